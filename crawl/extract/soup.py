"""Extract all visible text of a page with BeautifulSoup, as the original WikiSum did."""

import re
import warnings

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, PreformattedString, Tag

from wikisum.crawl.whitespace import normalize_whitespace

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
_HIDDEN_STYLE = re.compile(r"display\s*+:\s*+none|visibility\s*+:\s*+hidden", re.IGNORECASE)

# XHTML and plain text are expected here.
warnings.filterwarnings("ignore", category=XMLParsedAsHTMLWarning)
warnings.filterwarnings("ignore", category=MarkupResemblesLocatorWarning)


def soup_text(html: bytes) -> tuple[str, list[str]]:
    """Return (title, paragraphs) of UTF-8: one paragraph per block element, in reading order.

    Each row of a table is one paragraph.
    """
    tree = BeautifulSoup(html.decode(), "lxml")
    title = normalize_whitespace(tree.title.get_text(" ")) if tree.title else ""
    paragraphs: list[str] = []
    line: list[str] = []

    def end_paragraph() -> None:
        text = normalize_whitespace("".join(line))
        line.clear()
        if text:
            paragraphs.append(text)

    # None on the stack marks the end of the block element below which it was pushed.
    stack: list[Tag | NavigableString | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            end_paragraph()
        elif isinstance(node, Tag):
            if _is_left_out(node):
                continue
            if node.name in ("br", "td", "th"):
                line.append(" ")
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
    if not attributes or node.name in (
        "html",
        "body",
    ):  # scripts show a page that is hidden as a whole
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(str(attributes.get("style", ""))))
    )
