"""Pages -> title and paragraphs. Extractors are a small named choice behind one function."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.limits import check_markup, check_size
from wikisum.crawl.extract.main_text import fast_text
from wikisum.crawl.extract.soup import soup_text
from wikisum.crawl.extract.trafilatura import trafilatura_text
from wikisum.crawl.language import detect
from wikisum.crawl.whitespace import normalize_whitespace

# UTF-8 -> (title, paragraphs)
EXTRACTORS: dict[str, Callable[[bytes], tuple[str, list[str]]]] = {
    "fast": fast_text,  # main text, by our own block classifier
    "soup": soup_text,  # all visible text
    "trafilatura": trafilatura_text,  # main text, by an optional package
}


class Page(NamedTuple):
    """What a page says: `paragraphs` in reading order, before any is dropped."""

    title: str
    paragraphs: list[str]
    language: str | None


def check_extractor(name: str) -> None:
    """Raises ValueError for an extractor that there is not, or that is not installed."""
    if name not in EXTRACTORS:
        raise ValueError(f"no extractor {name!r}; there are {', '.join(EXTRACTORS)}")
    if name == "trafilatura" and find_spec("trafilatura") is None:
        raise ValueError("extractor trafilatura is not there: pip install 'wikisum[trafilatura]'")


def extract_paragraphs(
    html: bytes, charset: str | None = None, extractor: str = "fast"
) -> list[str]:
    """The paragraphs of an HTML page, one per block element, in reading order.

    White space is folded; inline tags neither part a sentence nor glue words. `charset` is that
    of the HTTP header. Raises ValueError as `check_extractor`, and BadPage as `read_page` does,
    except that a page without text has no paragraphs.
    """
    check_extractor(extractor)
    return _extract(html, charset, extractor)[1]


def read_page(payload: bytes, charset: str | None, kind: str, extractor: str) -> Page:
    """Title, paragraphs and language of an `html` page, or of `text` (its lines).

    Raises BadPage: `page_too_large`, `too_many_tags`, `too_many_attributes`,
    `too_many_copies`, `too_deep`, `no_text`. `extractor` must be one that `check_extractor` lets
    through.
    """
    if kind == "text":
        check_size(payload)
        lines = (
            normalize_whitespace(line) for line in to_utf8(payload, charset).decode().splitlines()
        )
        title, paragraphs = "", [line for line in lines if line]
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
