"""Refuse pages that would take a parser too long.

Parsing costs tags times depth, the square of the attributes of a tag, and copies of each formatting
tag that is left open. The parsers are written in C and cannot be interrupted, so a cheap check
comes first.
"""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wikisum.crawl.errors import BadPage

MAX_PAGE_BYTES = 8 << 20
MAX_TAGS = 100_000
MAX_ATTRIBUTES = 16_000  # of one tag, or the root of the sum of squares; half a second too
MAX_NESTING_COST = 100_000_000  # tags above each tag, summed; half a second too
MAX_COPIES = 500_000  # of formatting tags; 200 MB and half a second
MAX_ALIKE = 3  # of open tags with the same attributes, which alone are copied
_FEW_TAGS = 20_000  # under it even one tag within the other parses in half a second
_FEW_COPIED_TAGS = 1_400  # under it even half of them, copied by each of the other half, are few
_LONG_TAG_CHARS = 1_000
_LONG_BYTES = 58_000  # a shorter page cannot hold MAX_ATTRIBUTES different names
_SOON_BYTES = 1_000
_MAX_FOLLOWED_BYTES = 2 * MAX_PAGE_BYTES  # read by the exact count of attributes; half a second
_SPACE = rb" \t\n\f\r"
_ATTRIBUTE_FORM = (rb"[^S/>][^S/>=]*+(?:[S]*+=[S]*+(?:\"[^\"]*+\"?|'[^']*+'?|[^S>]*+))?+").replace(
    b"S", _SPACE
)
_ATTRIBUTES_FORM = rb"(?:[/" + _SPACE + rb"]++|" + _ATTRIBUTE_FORM + rb")*+"
_ATTRIBUTE = re.compile(_ATTRIBUTE_FORM)
_ATTRIBUTES = re.compile(_ATTRIBUTES_FORM)
# Matches only "<", so that a tag within another is found too.
_ATTRIBUTES_OF_TAG = re.compile(
    rb"<(?=[a-zA-Z][^/>" + _SPACE + rb"]*+(" + _ATTRIBUTES_FORM + rb"))"
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)")
# Tags without content, and those that the next of their kind closes.
_NEVER_OPEN = frozenset((
    b"p", b"li", b"dt", b"dd", b"td", b"th", b"tr", b"tbody", b"thead", b"br", b"hr", b"img",
    b"input", b"meta", b"link", b"area", b"base", b"col", b"embed", b"source", b"track", b"wbr",
    b"param",
))  # fmt: skip
# Tags that open again in the next paragraph when one ends within them.
_FORMATTING = frozenset((
    b"b", b"big", b"code", b"em", b"font", b"i", b"s", b"small", b"strike", b"strong", b"tt", b"u",
))  # fmt: skip
_MAY_FORMAT = np.zeros(1 << 16, np.bool_)  # by two letters, each with the bit of lower case set
for _name in _FORMATTING:
    for _next in _name[1:2] or b"\t\n\f\r >/":
        _MAY_FORMAT[_name[0] << 8 | _next | 32] = True


def check_size(payload: bytes) -> None:
    """Raises BadPage `page_too_large` for over 8 MiB."""
    if len(payload) > MAX_PAGE_BYTES:
        raise BadPage("page_too_large", f"{len(payload)} bytes")


def check_markup(html: bytes) -> None:
    """Raises BadPage `too_many_tags`, `too_deep`, `too_many_copies` or `too_many_attributes`."""
    if len(html) < 3 * _FEW_COPIED_TAGS:
        return
    codes = np.frombuffer(html, np.uint8)
    begins_tag = codes[:-3] == ord("<")
    count = int(np.count_nonzero(begins_tag))
    if count > MAX_TAGS:
        raise BadPage("too_many_tags", f"{count} tags")
    if count > _FEW_TAGS and _nesting_cost(html) > MAX_NESTING_COST:
        raise BadPage("too_deep", "tags nested too deep")
    if count > _FEW_COPIED_TAGS and _copies(html, codes, np.flatnonzero(begins_tag)) > MAX_COPIES:
        raise BadPage("too_many_copies", "formatting tags left open")
    if len(html) > _LONG_BYTES and _has_many_attributes(html, codes):
        raise BadPage("too_many_attributes", "too many attributes in one tag")


def _has_many_attributes(html: bytes, codes: NDArray[np.uint8]) -> bool:
    """Whether the squares of the tags' counts of attributes sum to over MAX_ATTRIBUTES squared.

    First the bytes that may precede attributes are counted for each part of the page, which is
    fast. Then the parts with the highest bounds are counted exactly until the sum is within the
    limit.
    """
    may_precede = _may_precede_attributes(codes)
    count = int(np.count_nonzero(may_precede))
    if count <= MAX_ATTRIBUTES:
        return False
    parts = list(_parts(html, 2 * MAX_ATTRIBUTES**2 // count))
    bounds = [_bound(may_precede, part) for part in parts]
    squares, budget = sum(bound**2 for bound in bounds), _MAX_FOLLOWED_BYTES
    for bound, part in sorted(zip(bounds, parts, strict=True), reverse=True):
        if squares <= MAX_ATTRIBUTES**2:
            break
        exact, followed_bytes = _square_sum(html, *part, budget)
        squares += min(exact - bound**2, 0)
        budget -= followed_bytes
    return squares > MAX_ATTRIBUTES**2


def _may_precede_attributes(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a mask of bytes, at least one for each attribute.

    These are the last byte of a run of white space, slashes, and equals signs, since no space
    separates the attributes of `a=''b=''`.
    """
    following = codes[1:]
    found = codes[:-1] <= ord(" ")
    found &= codes[:-1] != following
    found |= codes[:-1] == ord("/")
    found |= codes[:-1] == ord("=")
    return np.asarray(found)


def _bound(may_precede: NDArray[np.bool_], part: tuple[int, int, int]) -> int:
    """Return how many attributes the tags that begin in a part have at most."""
    start, end, rest = part
    return int(np.count_nonzero(may_precede[start:end])) + rest


def _parts(html: bytes, part_bytes: int) -> Iterator[tuple[int, int, int]]:
    """Yield the start and end of each part of a page, and a bound on what follows it.

    The bound is the largest number of attributes that a tag of the part may have after its end.

    What looks like a tag may be in a script or a comment, and then hide a tag from a search that
    continues after it. So the page is cut where any tag surely ends soon, whatever came before.
    """
    start, end = 0, part_bytes
    next_quotes = {b'"': -1, b"'": -1}
    while start < len(html):
        end = html.find(b">", end) + 1 or len(html)
        rest_bytes, quote = _longest_rest(html, end, next_quotes)
        if rest_bytes == _SOON_BYTES:
            end = max(end, quote) + _SOON_BYTES
        else:
            yield start, end, rest_bytes // 2 + 1
            start, end = end, end + part_bytes


def _longest_rest(html: bytes, end: int, next_quotes: dict[bytes, int]) -> tuple[int, int]:
    """Return how many bytes a tag that continues after the ">" before `end` may have from there.

    It continues only in a quoted value, so what counts is what follows the next quote of either
    kind, up to _SOON_BYTES. Return the place of that quote too. `next_quotes` holds the places
    that the last call found, and is updated.
    """
    rests = []
    for quote, place in next_quotes.items():
        if place < end:
            place = html.find(quote, end)
            next_quotes[quote] = place = place if place >= 0 else len(html)
        rest = _ATTRIBUTES.match(html, place + 1, place + 1 + _SOON_BYTES)
        rests.append((len(rest[0]) if rest else 0, place))
    return max(rests)


def _square_sum(html: bytes, start: int, end: int, rest: int, max_bytes: int) -> tuple[int, int]:
    """Return the sum of the squares of the counts of attributes of all that may be tags in a part.

    Of those with the same end only the longest counts. One that does not end in the part may have
    `rest` attributes more. Return how many bytes were followed too. If there are over `max_bytes`,
    because tags begin within each other, the sum is over the limit.
    """
    followed_bytes = 0
    count_by_end: dict[int, int] = {}
    for tag in _ATTRIBUTES_OF_TAG.finditer(html, start, end):
        count, tag_end = len(_ATTRIBUTE.findall(tag[1])), tag.end(1)
        count += rest if tag_end == end else 0
        count_by_end[tag_end] = max(count, count_by_end.get(tag_end, 0))
        followed_bytes += tag_end - tag.start()
        if count > MAX_ATTRIBUTES or followed_bytes > max_bytes:
            return MAX_ATTRIBUTES**2 + 1, followed_bytes
    return sum(count * count for count in count_by_end.values()), followed_bytes


def _nesting_cost(html: bytes) -> int:
    """Return the sum over all tags of the open tags above; unmatched end tags close nothing."""
    open_count: dict[bytes, int] = {}
    depth = cost = 0
    for slash, name in _TAG.findall(html.lower()):
        if not slash:
            if name not in _NEVER_OPEN:
                open_count[name] = open_count.get(name, 0) + 1
                depth += 1
        elif open_count.get(name, 0):
            open_count[name] -= 1
            depth -= 1
        cost += depth
    return cost


def _copies(html: bytes, codes: NDArray[np.uint8], tags: NDArray[np.int64]) -> int:
    """Return an upper bound of copied formatting tags: those open at each tag, summed.

    Return 0 if all of them, open at all tags, would be within the limit.
    """
    opens = _may_format(codes, tags + 1)
    if int(np.count_nonzero(opens)) * len(tags) <= MAX_COPIES:
        return 0
    closes = (codes[tags + 1] == ord("/")) & _may_format(codes, tags + 2)
    places = np.flatnonzero(opens | closes)
    followers = np.diff(places, append=len(tags))
    opened: dict[bytes, list[bytes]] = {name: [] for name in _FORMATTING}
    count_by_tag: Counter[bytes] = Counter()
    open_count = copies = 0
    for start, follower_count in zip(tags[places].tolist(), followers.tolist(), strict=True):
        match = _TAG.match(html, start)
        name = match[2].lower() if match else b""
        if match and not match[1] and name in opened:
            tag = _whole_tag(html, start)
            opened[name].append(tag)
            count_by_tag[tag] += 1
            open_count += count_by_tag[tag] <= MAX_ALIKE
        elif match and opened.get(name):
            tag = opened[name].pop()
            open_count -= count_by_tag[tag] <= MAX_ALIKE
            count_by_tag[tag] -= 1
        copies += open_count * follower_count
    return copies


def _whole_tag(html: bytes, start: int) -> bytes:
    """Return the tag at `start` with its attributes, or a unique name if its end is unclear."""
    end = html.find(b">", start, start + _LONG_TAG_CHARS)
    tag = html[start : max(start, end)]
    is_whole = tag and tag.count(b'"') % 2 == tag.count(b"'") % 2 == 0
    return tag if is_whole else b"%d" % start


def _may_format(codes: NDArray[np.uint8], names: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the tag names at these indexes may be those of formatting tags."""
    letters = (codes[names] | 32).astype(np.uint16) << 8 | (codes[names + 1] | 32)
    return np.asarray(_MAY_FORMAT[letters])
