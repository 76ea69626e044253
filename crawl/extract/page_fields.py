"""Read the fields of a page that search uses: title, headings, text."""

from typing import NamedTuple

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.blocks import Blocks, read_blocks
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.limits import check_markup, check_size
from wikisum.crawl.extract.main_text import default_model, main_blocks
from wikisum.crawl.language import detect
from wikisum.crawl.whitespace import normalize_whitespace

HEADING_TAGS = frozenset(("h1", "h2", "h3"))
MAX_TITLE_CHARS = 200


class PageFields(NamedTuple):
    """A page's title, headings and main text, each text a list of lines in reading order."""

    title: str
    headings: list[str]
    text: list[str]
    language: str | None


def read_fields(payload: bytes, charset: str | None, kind: str) -> PageFields:
    """Return the fields of a page; `kind` is `html` or `text`.

    Headings count everywhere but in menus, asides and footers; the text is that of `main_blocks`.
    The first line of a `text` page, if short, is its title. Raises BadPage as `read_page`.
    """
    check_size(payload)
    source = to_utf8(payload, charset)
    headings: list[str] = []
    if kind == "text":
        lines = [
            line for raw in source.decode().splitlines() if (line := normalize_whitespace(raw))
        ]
        has_title = len(lines) > 1 and len(lines[0]) <= MAX_TITLE_CHARS
        title, text = (lines.pop(0) if has_title else ""), lines
    else:
        check_markup(source)
        title, headings, text = _of_blocks(read_blocks(source))
    if not text:
        raise BadPage("no_text", "the page has no text")
    return PageFields(title, headings, text, detect("\n".join(text)))


def _of_blocks(page: Blocks) -> tuple[str, list[str], list[str]]:
    headings, text = [], []
    is_main = main_blocks(page, default_model())
    for block, element, kept in zip(page.texts, page.elements, is_main, strict=True):
        if page.tags[element] in HEADING_TAGS:
            headings.append(block)
        elif kept:
            text.append(block)
    return page.title, headings, text
