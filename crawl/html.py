"""Pages -> title and paragraphs. Extractors are a small named choice behind one function."""

import re
import warnings
from collections.abc import Callable
from typing import NamedTuple

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, PreformattedString, Tag

from crawl.charset import decode
from crawl.errors import BadPage
from crawl.language import detect

MAX_HTML_BYTES = 16 << 20
MAX_TAGS = 100_000
MAX_TAG_CHARS = 4 << 20

BLOCK_TAGS = frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup", "hr", "html",
    "legend", "li", "main", "menu", "nav", "noframes", "ol", "optgroup", "option", "p", "pre",
    "section", "summary", "table", "tbody", "tfoot", "thead", "title", "tr", "ul",
))  # fmt: skip
LEFT_OUT_TAGS = frozenset((
    "script", "style", "template", "noscript", "head", "title", "svg", "math", "iframe", "object",
    "embed", "applet", "canvas", "audio", "video", "map", "select", "textarea", "button", "input",
    "datalist", "noframes", "noembed",
))  # fmt: skip
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"[\s\u00a0\u200b\u2028\u2029\ufeff\u00ad]+")

# pages are what they are: XHTML, or a line of text
warnings.filterwarnings("ignore", category=XMLParsedAsHTMLWarning)
warnings.filterwarnings("ignore", category=MarkupResemblesLocatorWarning)


class Page(NamedTuple):
    """What a page says: `paragraphs` in reading order, before any is dropped."""

    title: str
    paragraphs: list[str]
    language: str | None


def extract_paragraphs(
    html: bytes, charset: str | None = None, extractor: str = "soup"
) -> list[str]:
    """The paragraphs of an HTML page, one per block element, in reading order.

    White space is folded; inline tags neither part a sentence nor glue words. `charset` is that
    of the HTTP header. Raises ValueError for an unknown extractor, BadPage as `read_page` does.
    """
    return _extract(html, charset, extractor)[1]


def read_page(payload: bytes, charset: str | None, kind: str, extractor: str) -> Page:
    """Title, paragraphs and language of an `html` page, or of `text` (its lines).

    Raises BadPage: `page_too_large`, `too_many_tags`, `no_text`.
    """
    if kind == "text":
        if len(payload) > MAX_HTML_BYTES:
            raise BadPage("page_too_large", f"{len(payload)} bytes")
        lines = (_fold(line) for line in decode(payload, charset).splitlines())
        title, paragraphs = "", [line for line in lines if line]
    else:
        title, paragraphs = _extract(payload, charset, extractor)
    if not paragraphs:
        raise BadPage("no_text", "the page has no text")
    return Page(title, paragraphs, detect("\n".join(paragraphs)))


def _extract(html: bytes, charset: str | None, extractor: str) -> tuple[str, list[str]]:
    if extractor not in EXTRACTORS:
        raise ValueError(f"no extractor {extractor!r}; there are {', '.join(EXTRACTORS)}")
    if len(html) > MAX_HTML_BYTES:
        raise BadPage("page_too_large", f"{len(html)} bytes")
    tags = html.count(b"<")
    if tags > MAX_TAGS:
        raise BadPage("too_many_tags", f"{tags} tags")
    return EXTRACTORS[extractor](decode(html, charset))


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _soup(html: str) -> tuple[str, list[str]]:
    """(title, paragraphs) by a walk over BeautifulSoup's tree: all text that is not hidden."""
    tree = BeautifulSoup(html, "lxml")
    title = _fold(tree.title.get_text(" ")) if tree.title else ""
    paragraphs: list[str] = []
    line: list[str] = []

    def end_paragraph() -> None:
        text = _fold("".join(line))
        line.clear()
        if text:
            paragraphs.append(text)

    # None on the stack ends the block it was pushed for.
    stack: list[Tag | NavigableString | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            end_paragraph()
        elif isinstance(node, Tag):
            if _is_left_out(node):
                continue
            if node.name in ("br", "td", "th", "wbr"):
                line.append(" " if node.name != "wbr" else "")
            if node.name in BLOCK_TAGS:
                end_paragraph()
                stack.append(None)
            stack.extend(reversed(node.contents))  # type: ignore[arg-type]
        elif not isinstance(node, PreformattedString):
            line.append(str(node))
    end_paragraph()
    return title, paragraphs


def _is_left_out(node: Tag) -> bool:
    if node.name in LEFT_OUT_TAGS:
        return True
    attributes = node.attrs
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(str(attributes.get("style", ""))))
    )


EXTRACTORS: dict[str, Callable[[str], tuple[str, list[str]]]] = {"soup": _soup}
