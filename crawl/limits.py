"""Pages that no parser should be given: parsing costs tags x depth and the square of attributes.

The parsers are written in C and cannot be stopped half way, so a cheap look comes first.
"""

import re

import numpy as np
from numpy.typing import NDArray

from crawl.errors import BadPage

MAX_PAGE_BYTES = 8 << 20
MAX_TAGS = 100_000
MAX_ATTRIBUTES = 16_000  # of one tag, or the root of the sum of squares; half a second too
MAX_NESTING_COST = 200_000_000  # tags above each tag, summed; half a second of parsing
_FEW_TAGS = 20_000  # under it even one tag within the other parses in half a second
_LONG_CHARS = 100_000  # a shorter page has no room for attributes that take half a second
# Tags of many attributes, each read once; quotes may hold "<" and ">". No part is longer than 64,
# so that all the shorter tags that may begin within each other are passed over in linear time.
_LONG_TAG = re.compile(
    rb"<[a-zA-Z](?:[\s/=]|[^>=\s/]{1,64}+(?:=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)?+[\s/]*+)"
    rb"{32,}+"
)
_ATTRIBUTE = re.compile(rb"[^=\s/]++(?:=\s*+(?:\"[^\"]*+\"?|'[^']*+'?))?+")
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*)")
# Tags without content, and those that the next of their kind closes.
_NEVER_OPEN = frozenset((
    b"p", b"li", b"dt", b"dd", b"td", b"th", b"tr", b"tbody", b"thead", b"br", b"hr", b"img",
    b"input", b"meta", b"link", b"area", b"base", b"col", b"embed", b"source", b"track", b"wbr",
    b"param",
))  # fmt: skip


def check_size(payload: bytes) -> None:
    """Raises BadPage `page_too_large` for over 8 MiB."""
    if len(payload) > MAX_PAGE_BYTES:
        raise BadPage("page_too_large", f"{len(payload)} bytes")


def check_markup(html: bytes) -> None:
    """Raises BadPage `too_many_tags`, `too_deep` or `too_many_attributes` (of one tag or a few)."""
    if len(html) <= 3 * _FEW_TAGS:
        return
    codes = np.frombuffer(html, np.uint8)
    tag_count = np.count_nonzero(codes == ord("<"))
    if tag_count > MAX_TAGS:
        raise BadPage("too_many_tags", f"{tag_count} tags")
    if tag_count > _FEW_TAGS and _nesting_cost(html) > MAX_NESTING_COST:
        raise BadPage("too_deep", "tags nested too deep")
    if len(html) > _LONG_CHARS and _most_attributes(codes) > MAX_ATTRIBUTES:
        counts = [len(_ATTRIBUTE.findall(tag)) for tag in _LONG_TAG.findall(html)]
        if sum(count * count for count in counts) > MAX_ATTRIBUTES**2:
            raise BadPage("too_many_attributes", f"{max(counts)} in one tag")


def _most_attributes(codes: NDArray[np.uint8]) -> int:
    """A quick upper bound: before each is a space, a slash, or a quote that "=" has begun."""
    is_space = (codes == ord(" ")) | (codes - np.uint8(ord("\t")) <= ord("\r") - ord("\t"))
    starts = int(np.count_nonzero(is_space[:-1] > is_space[1:]))
    return starts + sum(int(np.count_nonzero(codes == ord(mark))) for mark in "/=\v")


def _nesting_cost(html: bytes) -> int:
    """The number of open tags above each tag, summed; a close without its open closes nothing."""
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
