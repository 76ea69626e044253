"""Extract the title, paragraphs and language of a page.

    page = read_page(capture.payload, capture.charset, capture.kind, extractor="fast")
    print(page.title, page.language)
    for paragraph in page.paragraphs:
        print(drop_reason(paragraph, page.language), paragraph)

An extractor finds the text of an HTML page; EXTRACTORS lists them by name.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.limits import check_markup, check_size
from wikisum.crawl.extract.main_text import fast_text
from wikisum.crawl.extract.soup import soup_text
from wikisum.crawl.extract.trafilatura import trafilatura_text
from wikisum.crawl.extract.wrapped_lines import join_wrapped_lines
from wikisum.crawl.language import detect

# UTF-8 -> (title, paragraphs)
EXTRACTORS: dict[str, Callable[[bytes], tuple[str, list[str]]]] = {
    "fast": fast_text,  # the main text, by a small network over blocks
    "soup": soup_text,  # all visible text, by BeautifulSoup
    "trafilatura": trafilatura_text,  # the main text, by an optional package
}


class Page(NamedTuple):
    """A page's text: `paragraphs` in reading order, before any is dropped."""

    title: str
    paragraphs: list[str]
    language: str | None


def check_extractor(name: str) -> None:
    """Raises ValueError for an extractor that is unknown or not installed."""
    if name not in EXTRACTORS:
        raise ValueError(f"unknown extractor {name!r}; choose from {', '.join(EXTRACTORS)}")
    if name == "trafilatura" and find_spec("trafilatura") is None:
        raise ValueError(
            "extractor trafilatura is not installed: pip install 'wikisum[trafilatura]'"
        )


def extract_paragraphs(
    html: bytes, charset: str | None = None, extractor: str = "fast"
) -> list[str]:
    """Return the paragraphs of an HTML page, one per block element, in reading order.

    White space is normalized. Inline tags neither split sentences nor join words. `charset` is
    that of the HTTP header. Raises ValueError as `check_extractor`, and BadPage as `read_page`,
    except that a page without text has no paragraphs.

        >>> extract_paragraphs(b"<p>One <b>bold</b> word.<p>Two.")
        ['One bold word.', 'Two.']
    """
    check_extractor(extractor)
    return _extract(html, charset, extractor)[1]


def read_page(payload: bytes, charset: str | None, kind: str, extractor: str) -> Page:
    """Return title, paragraphs and language of a page; `kind` is `html` or `text`.

    The paragraphs of a `text` page are its lines, wrapped ones joined; it may be of any size, since
    it costs 20 ms per MB. `extractor` must have passed `check_extractor`.
    Raises BadPage: `page_too_large` (HTML over 8 MiB), `too_many_tags`, `too_many_attributes`,
    `too_many_copies`, `too_deep`, `no_text`.
    """
    if kind == "text":
        title, paragraphs = "", join_wrapped_lines(to_utf8(payload, charset).decode())
    else:
        title, paragraphs = _extract(payload, charset, extractor)
    if not paragraphs:
        raise BadPage("no_text", "the page has no text")
    return Page(title, paragraphs, detect("\n".join(paragraphs)))


def _extract(payload: bytes, charset: str | None, extractor: str) -> tuple[str, list[str]]:
    check_size(payload)
    html = to_utf8(payload, charset)
    check_markup(html)
    return EXTRACTORS[extractor](html)
