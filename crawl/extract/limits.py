"""Refuse pages that would take a parser too long.

Parsing costs tags times depth, the square of the attributes of a tag, and copies of each formatting
tag that is left open. The parsers are written in C and cannot be interrupted, so a cheap check
comes first.
"""

import re
from collections import Counter

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
_LONG_CHARS = 100_000  # a shorter page has no room for attributes that take half a second
# Tags of many attributes, each read once; quotes may hold "<" and ">". No part is longer than 64,
# so that all the shorter tags that may begin within each other are passed over in linear time.
_LONG_TAG = re.compile(
    rb"<[a-zA-Z](?:[\s/=]|[^>=\s/]{1,64}+(?:=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)?+[\s/]*+)"
    rb"{32,}+"
)
_ATTRIBUTE = re.compile(rb"[^=\s/]++(?:\s*+=\s*+(?:\"[^\"]*+\"?|'[^']*+'?|\S*+))?+")
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
    if len(html) > _LONG_CHARS and _most_attributes(codes) > MAX_ATTRIBUTES:
        counts = [len(_ATTRIBUTE.findall(tag)) for tag in _LONG_TAG.findall(html)]
        if sum(count * count for count in counts) > MAX_ATTRIBUTES**2:
            raise BadPage("too_many_attributes", f"{max(counts)} in one tag")


def _most_attributes(codes: NDArray[np.uint8]) -> int:
    """Return a quick upper bound: each follows a space, a slash, or a quote that "=" began."""
    is_space = codes - np.uint8(ord("\t")) <= ord("\r") - ord("\t")
    is_space |= codes == ord(" ")
    starts = int(np.count_nonzero(is_space[:-1] > is_space[1:]))
    return starts + sum(int(np.count_nonzero(codes == ord(mark))) for mark in "/=\v")


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
