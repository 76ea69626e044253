"""A page as a flat list of blocks of text, each with what its place in the tree says of it.

One pass over the tree of lexbor, a parser that mends markup as browsers do.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.folding import fold

_SKIPPED_TAGS = frozenset((
    "script", "style", "template", "noscript", "head", "title", "svg", "iframe", "object", "embed",
    "applet", "canvas", "audio", "video", "map", "select", "textarea", "button", "input",
    "datalist", "noframes", "noembed", "annotation", "annotation-xml", "rp", "rt", "dialog",
    "optgroup", "option", "progress", "meter", "area", "img", "amp-img", "source", "wbr",
    "-comment", "!doctype",
))  # fmt: skip
_INLINE_TAGS = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "math", "nobr", "output", "picture", "q", "ruby",
    "rb", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    "msup", "msub", "mi", "mo", "mn", "mrow", "mfrac", "msqrt", "mtext", "semantics", "mstyle",
    "mspace", "munder", "mover", "munderover", "msubsup", "mfenced", "mpadded", "mtable", "mtr",
    "mtd",
))  # fmt: skip

TAG_BITS = (
    "article", "main", "section", "aside", "header", "footer", "nav", "figure", "figcaption",
    "form", "table", "td", "ul", "ol", "li", "blockquote", "pre", "dl", "p", "h1", "h2", "h3",
    "h4", "div", "body",
)  # fmt: skip
# What class names and ids say, in the words that web designers use: parts of a name, or, after
# "=", a whole word of it.
HINTS = {
    "strong": "articlebody article-body article_body entry-content entrycontent entry_content "
    "post-content postcontent post-body post_content story-body storybody main-content "
    "maincontent article-content articlecontent body-content page-content article-text "
    "articletext body-text body-copy bodycopy mw-parser-output prose markdown",
    "content": "article content entry post story text body main blog page",
    "comment": "comment disqus respond reply discuss forum talkback",
    "nav": "nav menu crumb paginat pager skip toolbar =toc =tab =tabs",
    "footer": "foot copyright legal disclaimer colophon bottom",
    "header": "header masthead topbar hero logo =top",
    "side": "side rail widget secondary right left panel column =col",
    "related": "relat recommend more popular trending latest also readnext read-next teaser card "
    "feed archive headlines outbrain taboola recirc similar carousel =most",
    "ad": "advert sponsor dfp promo banner affiliate donat =ad =ads",
    "share": "share sharing social facebook twitter follow like newsletter subscri signup sign-up "
    "login regist paywall email print =rss",
    "meta": "meta byline author date time publish tag categor info credit profile source keyword "
    "topic label badge =bio",
    "caption": "caption figure image photo galler media video slide thumb img player embed =pic",
    "title": "title headline heading kicker intro summary abstract excerpt =dek =lead",
    "cookie": "cookie consent gdpr ccpa",
    "popup": "modal popup pop-up overlay dialog alert notice message tooltip lightbox toast "
    "notification",
    "hidden": "hidden invisible sr-only visually screenreader screen-reader offscreen assistive "
    "noprint d-none collaps =hide",
    "list": "list grid index =item =items =link =links =row",
    "quote": "quote callout fact inset note =pull =box",
    "reference": "footnote citation reference bibliograph editsection =ref =edit",
}
_BIT_BY_HINT = {name: 1 << (len(TAG_BITS) + i) for i, name in enumerate(HINTS)}
_HINT_WORDS = [(hint, text.split()) for hint, text in HINTS.items()]
_START_CHARS = 3
_PARTS_BY_START: dict[str, list[tuple[str, int]]] = {}
for _hint, _words in _HINT_WORDS:
    for _word in _words:
        if _word[0] != "=":
            _parts = _PARTS_BY_START.setdefault(_word[:_START_CHARS], [])
            _parts.append((_word, _BIT_BY_HINT[_hint]))
_BIT_BY_WORD = {w[1:]: _BIT_BY_HINT[h] for h, words in _HINT_WORDS for w in words if w[0] == "="}
_CELLS = ("td", "th")
MAX_NAME_CHARS = 200
MAX_CELL_CHARS = 120  # a longer cell is text of its own, as in pages laid out by tables
_WORD_BREAK = re.compile(r"[-_]+")
_MAY_HIDE = frozenset(("style", "hidden", "aria-hidden"))
_HIDDEN_STYLE = re.compile(r"display\s*+:\s*+none|visibility\s*+:\s*+hidden", re.IGNORECASE)
_ROLES = {
    "main": "main", "article": "article", "navigation": "nav", "complementary": "aside",
    "contentinfo": "footer", "banner": "header", "search": "form", "form": "form",
}  # fmt: skip

_BIT_BY_TAG = {name: 1 << i for i, name in enumerate(TAG_BITS)}
_BIT_BY_TAG |= {"h5": _BIT_BY_TAG["h4"], "h6": _BIT_BY_TAG["h4"], "th": _BIT_BY_TAG["td"]}
_BIT_BY_TAG |= {"tr": 0, "dd": 0, "dt": 0}
BIT_COUNT = len(TAG_BITS) + len(HINTS)


class Block(NamedTuple):
    """A run of text between two block boundaries."""

    text: str
    link_chars: int
    link_count: int
    element: int


class Blocks(NamedTuple):
    """The text of a page in reading order, and the block elements that hold it, in tree order.

    Of element i: `parents[i]` its parent (-1 for the root), `bits[i]` its own tag and hints,
    `starts[i]` and `ends[i]` the range of blocks inside it. `tags[i]` is its tag.
    """

    title: str
    blocks: list[Block]
    parents: list[int]
    bits: list[int]
    starts: list[int]
    ends: list[int]
    tags: list[str]


def read_blocks(html: str) -> Blocks:
    """The page's blocks. What a reader of the page does not see is left out."""
    parser = LexborHTMLParser(html)
    title_node = parser.css_first("title")
    title = fold(title_node.text()) if title_node is not None else ""
    walk = _Walk()
    root = parser.body or parser.root
    if root is not None:
        walk.over(root)
    return Blocks(title, walk.blocks, walk.parents, walk.bits, walk.starts, walk.ends, walk.tags)


class _Walk:
    """Goes once over a tree and gathers blocks and elements."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.parents: list[int] = [-1]
        self.bits: list[int] = [_BIT_BY_TAG["body"]]
        self.starts: list[int] = [0]
        self.ends: list[int] = [0]
        self.tags: list[str] = ["body"]
        self._texts: list[str] = []
        self._link_texts: list[str] = []
        self._link_count = 0

    def over(self, root: LexborNode) -> None:
        """Visit everything under `root`; no recursion, for pages nest as they like."""
        stack: list[tuple[LexborNode, bool, bool]] = []
        element, link_depth, break_count = 0, 0, 0
        texts, link_texts = self._texts, self._link_texts
        node = root.child
        while True:
            if node is None:
                if not stack:
                    break
                node, is_block, is_link = stack.pop()
                if is_block:
                    if texts:
                        self._end_block(element)
                    self.ends[element] = len(self.blocks)
                    element = self.parents[element]
                elif is_link:
                    link_depth -= 1
                node = node.next
                continue
            tag = node.tag or ""
            if tag == "-text":
                text = node.text_content
                if text and not text.isspace():
                    texts.append(text)
                    break_count = 0
                    if link_depth:
                        link_texts.append(text)
                elif texts:
                    texts.append(" ")
                node = node.next
                continue
            if tag == "br":
                break_count += 1
                if texts:
                    if break_count == 2:
                        self._end_block(element)
                    else:
                        texts.append(" ")
                node = node.next
                continue
            if tag in _SKIPPED_TAGS:
                node = node.next
                continue
            attributes = node.attributes
            if attributes and not _MAY_HIDE.isdisjoint(attributes) and _is_hidden(attributes):
                node = node.next
                continue
            is_block = tag not in _INLINE_TAGS
            is_link = tag == "a"
            if is_block:
                if texts:
                    self._end_block(element)
                self.parents.append(element)
                hints = _hints(attributes) if attributes else 0
                self.bits.append(_BIT_BY_TAG.get(tag, 0) | hints)
                self.starts.append(len(self.blocks))
                self.ends.append(0)
                self.tags.append(tag)
                element = len(self.parents) - 1
            elif is_link:
                link_depth += 1
                self._link_count += 1
            child = node.child
            if child is None:
                if is_block:
                    self.ends[element] = len(self.blocks)
                    element = self.parents[element]
                elif is_link:
                    link_depth -= 1
                node = node.next
            else:
                stack.append((node, is_block, is_link))
                node = child
        if texts:
            self._end_block(0)
        self.ends[0] = len(self.blocks)

    def _end_block(self, element: int) -> None:
        text = fold("".join(self._texts))
        if text:
            link_chars = sum(map(len, self._link_texts))
            block = Block(text, min(link_chars, len(text)), self._link_count, element)
            if self.tags[element] in _CELLS and self.blocks and self._continues_row(block):
                block = _joined(self.blocks.pop(), block)
            self.blocks.append(block)
        self._texts.clear()
        self._link_texts.clear()
        self._link_count = 0

    def _continues_row(self, cell: Block) -> bool:
        """Whether the last block is of a short cell of the same table row."""
        last = self.blocks[-1]
        return (
            last.element != cell.element
            and self.parents[last.element] == self.parents[cell.element]
            and self.tags[last.element] in _CELLS
            and len(cell.text) <= MAX_CELL_CHARS >= len(last.text) / 4
        )


def _joined(left: Block, right: Block) -> Block:
    return Block(
        f"{left.text} {right.text}",
        left.link_chars + right.link_chars,
        left.link_count + right.link_count,
        left.element,
    )


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    if "style" in attributes and _HIDDEN_STYLE.search(attributes["style"] or ""):
        return True
    return "hidden" in attributes or attributes.get("aria-hidden") == "true"


def _hints(attributes: dict[str, str | None]) -> int:
    bits = _name_hints(attributes.get("class"), attributes.get("id"))
    if "role" in attributes:
        bits |= _BIT_BY_TAG.get(_ROLES.get(attributes["role"] or "", ""), 0)
    if attributes.get("itemprop") == "articleBody":
        bits |= _BIT_BY_HINT["strong"]
    return bits


@lru_cache(maxsize=1 << 14)
def _name_hints(*names: str | None) -> int:
    bits = 0
    for text in names:
        for name in (text or "")[:MAX_NAME_CHARS].lower().split():
            bits |= _word_hints(name)
    return bits


@lru_cache(maxsize=1 << 16)
def _word_hints(name: str) -> int:
    bits = 0
    for i in range(len(name) - _START_CHARS + 1):
        for part, bit in _PARTS_BY_START.get(name[i : i + _START_CHARS], ()):
            if name.startswith(part, i):
                bits |= bit
    for word in _WORD_BREAK.split(name):
        bits |= _BIT_BY_WORD.get(word, 0)
    return bits
