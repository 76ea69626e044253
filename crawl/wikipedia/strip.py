"""A simple, linear stripping of wiki markup, for pages that the parser cannot take."""

import html
import re

from wikisum.crawl.wikipedia.mend import clean
from wikisum.crawl.wikipedia.reader import URL, Plain
from wikisum.crawl.wikipedia.site import ENGLISH, Site, hidden_link

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^(={1,6})[ \t]*([^\n]*?)[ \t]*\1[ \t]*$", re.MULTILINE)
_REF_OPEN = re.compile(r"<ref\b[^<>]*?(/?)>", re.IGNORECASE)
_REF_CLOSE = re.compile(r"</ref\s*>", re.IGNORECASE)
_EXTERNAL = re.compile(r"\[(?:https?:)?//[^\s\]]*[ \t]?([^\[\]\n]*)\]", re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_NESTING = re.compile(r"\{\{|\}\}|\{\||\|\}")
_MAX_REF_CHARS = 10_000


def strip_plain(text: str, site: Site = ENGLISH) -> Plain:
    """Return the markup taken apart by a few linear passes: less exact, never slow."""
    text = _COMMENT.sub("", text)
    cited: list[str] = []
    categories: list[str] = []
    text = _cut_references(text, cited)
    text = _cut_nested(text)
    hidden, category = hidden_link(site.hidden), hidden_link(site.categories)

    def link_text(match: re.Match[str]) -> str:
        if found := category.match(match[1]):
            categories.append(" ".join(found[1].partition("|")[0].replace("_", " ").split()))
        if hidden.match(match[1]):
            return ""
        return match[1].rpartition("|")[2].lstrip(":")

    for _ in range(2):  # a link within a caption
        text = _LINK.sub(link_text, text)
    text = html.unescape(_EXTERNAL.sub(r"\1", text))
    return Plain(_sections(text), cited, categories, {})


def _sections(text: str) -> list[tuple[str, int, str]]:
    sections = []
    title, level, start = "", 1, 0
    for match in [*_HEADING.finditer(text), None]:
        body = text[start : match.start() if match else len(text)]
        sections.append((title, level, clean(body)))
        if match:
            title, level, start = clean(match[2]), len(match[1]), match.end()
    return sections


def _cut_references(text: str, cited: list[str]) -> str:
    """The text without `<ref>` elements; their URLs are added to `cited`."""
    out = []
    index = 0
    for opened in _REF_OPEN.finditer(text):
        if opened.start() < index:
            continue
        out.append(text[index : opened.start()])
        index = opened.end()
        if not opened[1]:
            window = text[index : index + _MAX_REF_CHARS]
            closed = _REF_CLOSE.search(window)
            if closed:
                cited.extend(u.rstrip(".,;:'") for u in URL.findall(window[: closed.start()]))
                index += closed.end()
    return "".join([*out, text[index:]])


def _cut_nested(text: str) -> str:
    """The text without templates and tables; what an unclosed one would swallow is kept."""
    out: list[str] = []
    index = depth = 0
    for match in _NESTING.finditer(text):
        if match[0] in ("{{", "{|"):
            if depth == 0:
                out.append(text[index : match.start()])
                index = match.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                index = match.end()
    return "".join([*out, text[index:]])
