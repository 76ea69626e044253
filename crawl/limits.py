"""Pages that no parser should be given: parsing costs tags x depth and the square of attributes.

The parsers are written in C and cannot be stopped half way, so a cheap look comes first.
"""

import re

from crawl.errors import BadPage

MAX_PAGE_BYTES = 8 << 20
MAX_TAGS = 100_000
MAX_TAG_PARTS = 12_000  # names, values and spaces of a tag: some 3,000 attributes
MAX_NESTING_COST = 200_000_000  # tags above each tag, summed; half a second of parsing
_FEW_TAGS = 20_000  # under it even one tag within the other parses in half a second
_LONG_CHARS = 100_000  # a shorter page has no room for attributes that take half a second
# A page from end to end, in one pass; fails at a tag with too many parts. Quotes may hold ">".
_SHORT_TAGS = re.compile(
    r"(?:[^<]++|<(?![a-zA-Z])|<[a-zA-Z]"
    r"(?:[^>=\s]++|\s++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)"
    rf"{{0,{MAX_TAG_PARTS}}}+(?:>|\Z))*+\Z"
)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# Tags without content, and those that the next of their kind closes.
_NEVER_OPEN = frozenset((
    "p", "li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "br", "hr", "img", "input", "meta",
    "link", "area", "base", "col", "embed", "source", "track", "wbr", "param",
))  # fmt: skip


def check_size(payload: bytes) -> None:
    """Raises BadPage `page_too_large` for over 8 MiB."""
    if len(payload) > MAX_PAGE_BYTES:
        raise BadPage("page_too_large", f"{len(payload)} bytes")


def check_markup(html: str) -> None:
    """Raises BadPage `too_many_tags`, `too_deep` or `too_many_attributes` (of one tag)."""
    tag_count = html.count("<")
    if tag_count > MAX_TAGS:
        raise BadPage("too_many_tags", f"{tag_count} tags")
    if tag_count > _FEW_TAGS and _nesting_cost(html) > MAX_NESTING_COST:
        raise BadPage("too_deep", "tags nested too deep")
    if len(html) > _LONG_CHARS and not _SHORT_TAGS.match(html):
        raise BadPage("too_many_attributes", f"a tag of over {MAX_TAG_PARTS} names and values")


def _nesting_cost(html: str) -> int:
    """The number of open tags above each tag, summed; a close without its open closes nothing."""
    open_count: dict[str, int] = {}
    depth = cost = 0
    for slash, name in _TAG.findall(html):
        if not slash:
            if name not in _NEVER_OPEN:
                open_count[name] = open_count.get(name, 0) + 1
                depth += 1
        elif open_count.get(name, 0):
            open_count[name] -= 1
            depth -= 1
        cost += depth
    return cost
