"""Read a page as a flat list of text blocks and the elements that hold them.

One pass over the tree of lexbor, a parser that repairs markup as browsers do.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from wikisum.crawl.extract.hints import BIT_BY_TAG, hints
from wikisum.crawl.extract.stated_text import stated_text
from wikisum.crawl.whitespace import normalize_whitespace

_BLOCK, _INLINE, _LINK, _BREAK, _BOX, _LEFT_OUT = range(6)
_LEFT_OUT_TAGS = (
    "script", "style", "template", "noscript", "head", "title", "map", "datalist", "noframes",
    "noembed", "annotation", "annotation-xml", "rp", "rt", "dialog", "area", "source", "wbr",
    "-comment", "!doctype",
)  # fmt: skip
_FURNITURE_TAGS = ("nav", "footer", "aside")
_FURNITURE_ROLES = ("navigation", "contentinfo", "complementary", "search", "menu", "menubar")
_BOX_TAGS = (  # left out too, but they separate words
    "svg", "iframe", "object", "embed", "applet", "canvas", "audio", "video", "select", "textarea",
    "button", "input", "optgroup", "option", "progress", "meter", "img", "amp-img",
)  # fmt: skip
_INLINE_TAGS = (
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "math", "nobr", "output", "picture", "q", "ruby",
    "rb", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    "msup", "msub", "mi", "mo", "mn", "mrow", "mfrac", "msqrt", "mtext", "semantics", "mstyle",
    "mspace", "munder", "mover", "munderover", "msubsup", "mfenced", "mpadded", "mtable", "mtr",
    "mtd",
)  # fmt: skip
_KINDS = {"a": _LINK, "br": _BREAK}  # all other tags are blocks
_KINDS |= dict.fromkeys(_LEFT_OUT_TAGS, _LEFT_OUT) | dict.fromkeys(_BOX_TAGS, _BOX)
_KINDS |= dict.fromkeys(_INLINE_TAGS, _INLINE)
_KINDS_BUT_FURNITURE = _KINDS | dict.fromkeys(_FURNITURE_TAGS, _LEFT_OUT)
MAX_CELL_CHARS = 120  # of all cells of a row but one; longer cells mean a layout by tables
MAX_LONG_CELL_CHARS = 480
MIN_SEEN_CHARS = 250  # a page that shows less may need a script or have odd markup
MIN_OTHER_CHARS = 1000
_NO_EVENTS = LexborDocumentOptions.WO_EVENTS.value
_MAY_HIDE = frozenset(("style", "hidden", "aria-hidden", "role"))
_MAY_BE_HIDDEN = re.compile(r":\s*+(?:none|hidden)", re.IGNORECASE)  # fast
_HIDDEN_STYLE = re.compile(r"display\s*+:\s*+none|visibility\s*+:\s*+hidden", re.IGNORECASE)


Attributes = Mapping[str, str | None]


class Blocks(NamedTuple):
    """The text of a page in reading order, and the block elements that hold it, in tree order.

    A block is a run of text between two block boundaries: `texts[k]`, of it `link_chars[k]`
    characters in `link_counts[k]` links, in the innermost block element `elements[k]`.
    `stated` is the text that the page states for machines, without white space, or empty.
    Of element i: `parents[i]` its parent (-1 for the root), `bits[i]` the tags and hints of it
    and of all elements above it, `starts[i]` and `ends[i]` the range of blocks inside it.
    """

    title: str
    stated: str
    texts: list[str]
    link_chars: list[int]
    link_counts: list[int]
    box_counts: list[int]
    elements: list[int]
    tags: list[str]
    parents: list[int]
    bits: list[int]
    starts: list[int]
    ends: list[int]


def read_blocks(html: bytes) -> Blocks:
    """Return the blocks of a page in UTF-8.

    What a reader does not see is left out, and menus, asides and footers, unless hardly anything
    else is there.
    """
    parser = LexborHTMLParser(html, scripting=True, options=_NO_EVENTS)
    root = parser.body or parser.root
    walk = _Walk(_title(parser), stated_text(html))
    if root is not None:
        walk.over(root)
        if sum(map(len, walk.blocks.texts)) < MIN_SEEN_CHARS:
            other = _Walk(*walk.blocks[:2], takes_all=True)
            other.over(root)
            if sum(map(len, other.blocks.texts)) > MIN_OTHER_CHARS:
                return other.blocks
    return walk.blocks


def _title(parser: LexborHTMLParser) -> str:
    node = parser.head.first_child if parser.head is not None else None
    while node is not None and node.tag != "title":
        node = node.next
    node = node or parser.css_first("title")
    return normalize_whitespace(node.text()) if node is not None else ""


class _Walk:
    """Collects the blocks of a tree, and the elements that hold any, in one pass."""

    def __init__(self, title: str, stated: str, takes_all: bool = False) -> None:
        root_bits = [BIT_BY_TAG["body"]]
        self.blocks = Blocks(title, stated, [], [], [], [], [], ["body"], [-1], root_bits, [0], [0])
        self._kinds = _KINDS if takes_all else _KINDS_BUT_FURNITURE
        self._may_hide = frozenset[str]() if takes_all else _MAY_HIDE
        self._element = 0  # the innermost that is open and has a block
        self._open: list[tuple[str, Attributes]] = []  # elements in it that have none yet
        self._texts: list[str] = []
        self._link_chars = self._link_count = self._box_count = 0

    def over(self, root: LexborNode) -> None:
        """Visit everything under `root`, without recursion because pages may nest deeply.

        Half the time of an extraction is spent here, so steps are inlined instead of called.
        """
        kinds, may_hide, texts, opened = self._kinds, self._may_hide, self._texts, self._open
        stack: list[tuple[LexborNode, int]] = []
        link_depth = break_count = 0
        node = root.first_child
        while True:
            while node is None:
                if not stack:
                    self._end_block()
                    self.blocks.ends[0] = len(self.blocks.texts)
                    return
                node, kind = stack.pop()
                if kind == _BLOCK:
                    if texts:
                        self._end_block()
                    if opened:
                        opened.pop()
                    else:
                        self._leave()
                elif kind == _LINK:
                    link_depth -= 1
                node = node.next
            if node.is_text_node:  # half of all nodes; reading a name takes longer
                if not node.is_empty_text_node:
                    text = node.text_content or ""
                    texts.append(text)
                    break_count = 0
                    if link_depth:
                        self._link_chars += len(text)
                elif texts:
                    texts.append(" ")
                node = node.next
                continue
            tag = node.tag or ""
            kind = kinds.get(tag, _BLOCK)
            if kind <= _LINK:
                attributes = node.attributes
                if not attributes or may_hide.isdisjoint(attributes) or not _hides(attributes):
                    child = node.first_child
                    if kind == _BLOCK:
                        if texts:
                            self._end_block()
                        if child is not None:
                            opened.append((tag, attributes))
                    elif kind == _LINK:
                        self._link_count += 1
                        link_depth += child is not None
                    if child is not None:
                        stack.append((node, kind))
                        node = child
                        continue
            elif kind == _BREAK:
                break_count += 1
                if break_count == 2:  # separates paragraphs; a single one separates lines
                    self._end_block()
                elif texts:
                    texts.append(" ")
            elif kind == _BOX:
                self._box_count += 1
                if texts:
                    texts.append(" ")
            node = node.next

    def _end_block(self) -> None:
        text = normalize_whitespace("".join(self._texts))
        self._texts.clear()
        if text:
            if self._open:
                self._enter()
            blocks = self.blocks
            blocks.texts.append(text)
            blocks.link_chars.append(min(self._link_chars, len(text)))
            blocks.link_counts.append(self._link_count)
            blocks.box_counts.append(self._box_count)
            blocks.elements.append(self._element)
            self._box_count = 0
        self._link_chars = self._link_count = 0

    def _enter(self) -> None:
        """Record the open elements, whose first block ends here."""
        _, _, texts, _, _, _, _, tags, parents, bits, starts, ends = self.blocks
        parent = self._element
        for tag, attributes in self._open:
            own_bits = bits[parent] | BIT_BY_TAG.get(tag, 0)
            if attributes:
                own_bits |= hints(attributes)
            parents.append(parent)
            parent = len(bits)
            bits.append(own_bits)
            tags.append(tag)
            starts.append(len(texts))
            ends.append(0)
        self._element = parent
        self._open.clear()

    def _leave(self) -> None:
        element = self._element
        self.blocks.ends[element] = len(self.blocks.texts)
        if self.blocks.tags[element] == "tr":
            self._join_row(element)
        self._element = self.blocks.parents[element]

    def _join_row(self, row: int) -> None:
        """Join the cells of a table row that just ended into one block, if they are short."""
        blocks = self.blocks
        start, end = blocks.starts[row], blocks.ends[row]
        inside = range(row, len(blocks.parents))
        if end - start < 2 or any(
            blocks.ends[e] - blocks.starts[e] > 1 for e in inside if blocks.parents[e] == row
        ):
            return
        *_, longest_but_one, longest = sorted(map(len, blocks.texts[start:]))
        if longest_but_one > MAX_CELL_CHARS or longest > MAX_LONG_CELL_CHARS:
            return
        blocks.texts[start:] = [" ".join(blocks.texts[start:])]
        blocks.link_chars[start:] = [sum(blocks.link_chars[start:])]
        blocks.link_counts[start:] = [sum(blocks.link_counts[start:])]
        blocks.box_counts[start:] = [sum(blocks.box_counts[start:])]
        del blocks.elements[start + 1 :]
        for element in inside:
            blocks.starts[element] = min(blocks.starts[element], start + 1)
            blocks.ends[element] = min(blocks.ends[element], start + 1)


def _hides(attributes: Attributes) -> bool:
    """Whether an element with these attributes is invisible or page furniture."""
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if attributes.get("role") in _FURNITURE_ROLES:
        return True
    style = attributes.get("style") or ""
    return bool(_MAY_BE_HIDDEN.search(style) and _HIDDEN_STYLE.search(style))
