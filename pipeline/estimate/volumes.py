"""The volumes of a build (articles, pages, characters), estimated from samples. Pure functions.

Pages per article and paragraphs per article are skewed, but only their means are known. The number
of articles without a page assumes that pages are distributed at random; the number of paragraphs
over the limit assumes an exponential distribution.
"""

import math
from typing import NamedTuple

from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.estimate.rates import Assumptions
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.settings import WantedSettings


class ArticleSample(NamedTuple):
    """Sums over the articles that were read, in `read_bytes` of `total_bytes` of their files.

    `input_bytes` is the size of all files that a build reads its articles from. `busiest_host` is
    the number of distinct wanted pages of the host that has most of them.
    """

    read_bytes: int
    total_bytes: int
    input_bytes: int
    articles: int
    markup_chars: int
    packed_bytes: int
    cited: int
    searched: int
    is_original: bool
    busiest_host: int = 0


class PageSample(NamedTuple):
    """Sums over sampled pages: pages in HTML, bytes, pages with kept text and its paragraphs.

    `text_lines` counts the lines of pages of plain text, and `text_chars` those of their
    characters that are kept.
    """

    pages: int
    html: int
    bytes: int
    documents: int
    own_language: int
    paragraphs: int
    chars: int
    text_lines: int = 0
    text_chars: int = 0


class CrawlSample(NamedTuple):
    """Sums over the records in `read_bytes` of the crawl's files; `matches` of them are wanted.

    `pages` sums over some of their pages: wanted ones if the sample has enough, else others.
    """

    files: int
    remote_files: int
    read_bytes: int
    total_bytes: float
    records: int
    matches: int
    pages: PageSample

    @property
    def scale(self) -> float:
        """The ratio of the size of all files to that of the sample."""
        return self.total_bytes / max(self.read_bytes, 1)


class Volumes(NamedTuple):
    """The estimated volumes of the whole build.

    `found` wanted pages are in the crawl, and `found_live` of the `asked_live` requested ones are
    on the web. `documents` of them have text, and `used` of these are in the right language.
    `chars` counts the characters of their paragraphs, `text_chars` those of plain pages,
    `kept_chars` those that examples keep, `linked_chars` those in graphs, and `entity_chars` those
    in which entities are recognized.
    """

    articles: float
    input_bytes: float
    markup_chars: float
    packed_bytes: float
    wanted: float
    crawl_bytes: float
    crawl_records: float
    found: float
    asked_live: float
    found_live: float
    html_bytes: float
    text_bytes: float
    text_lines: float
    text_chars: float
    documents: float
    used: float
    chars: float
    examples: float
    kept_chars: float
    linked_chars: float
    entity_chars: float


MIN_MATCHES = 10


def volumes(
    sample: ArticleSample,
    max_articles: int | None,
    crawl: CrawlSample | None,
    settings: Settings,
    assumed: Assumptions,
    is_live: bool = False,
) -> Volumes:
    """Estimate the volumes of a build of at most `max_articles` from the means of the samples.

    With `is_live`, pages that the crawl lacks are requested from the web.
    """
    each = 1 / max(sample.articles, 1)
    there = sample.articles * sample.total_bytes / max(sample.read_bytes, 1)
    articles = there if max_articles is None else min(there, max_articles)
    # the dump is read up to a limit of articles, but to its end for a list of titles
    read = articles / max(there, 1) if settings[ArticleSettings].limit else 1.0
    wanted = articles * each * _wanted(sample, settings[WantedSettings].corpus)
    has_crawl = crawl is not None or bool(settings[LocateSettings].crawls)
    found = found_pages(sample, articles, wanted, crawl, assumed) if has_crawl else 0.0
    asked_live = wanted - found if is_live else 0.0
    found_live = asked_live * assumed.live_coverage
    pages = crawl.pages if crawl and crawl.pages.pages else assumed_pages(assumed)
    scale = (found + found_live) / pages.pages
    page_bytes = scale * pages.bytes
    documents = scale * pages.documents
    used = documents * pages.own_language / max(pages.documents, 1)
    chars = documents * pages.chars / max(pages.documents, 1)
    examples = articles * -math.expm1(-used / max(articles, 1))
    joined = chars * used / max(documents, 1)
    kept, linked, with_entities = (
        kept_chars(joined, pages, examples, limit) for limit in paragraph_limits(settings)
    )
    return Volumes(
        articles=articles,
        input_bytes=sample.input_bytes * read,
        markup_chars=articles * each * sample.markup_chars,
        packed_bytes=articles * each * sample.packed_bytes,
        wanted=wanted,
        crawl_bytes=crawl.total_bytes if crawl else 0.0,
        crawl_records=crawl.records * crawl.scale if crawl else 0.0,
        found=found,
        asked_live=asked_live,
        found_live=found_live,
        html_bytes=page_bytes * pages.html / pages.pages,
        text_bytes=page_bytes * (1 - pages.html / pages.pages),
        text_lines=scale * pages.text_lines,
        text_chars=scale * pages.text_chars,
        documents=documents,
        used=used,
        chars=chars,
        examples=examples,
        kept_chars=kept,
        linked_chars=linked,
        entity_chars=with_entities,
    )


def paragraph_limits(settings: Settings) -> list[int]:
    """Return how many paragraphs an example keeps, links, and has entities recognized in."""
    graph = settings[GraphSettings]
    limits, limit = [], settings[ExampleSettings].max_paragraphs
    for more in (None, graph.graph_paragraphs, graph.entity_paragraphs):
        limit = min(limit, more) if more else limit
        limits.append(limit)
    return limits


def _wanted(sample: ArticleSample, corpus: str) -> int:
    cited = sample.cited if corpus != "search" else 0
    return cited + (sample.searched if corpus != "citations" else 0)


def assumed_pages(assumed: Assumptions) -> PageSample:
    """A sample of a hundred pages with the assumed means."""
    documents = round(100 * assumed.page_share)
    return PageSample(
        pages=100,
        html=100,
        bytes=round(100 * assumed.page_bytes),
        documents=documents,
        own_language=documents,
        paragraphs=round(documents * assumed.page_paragraphs),
        chars=round(documents * assumed.page_paragraphs * assumed.paragraph_chars),
    )


def found_pages(
    sample: ArticleSample,
    articles: float,
    wanted: float,
    crawl: CrawlSample | None,
    assumed: Assumptions,
) -> float:
    """The number of wanted pages in the crawl files; without files, the assumed share of them.

    If enough of the sampled records are wanted by the sampled articles, their number is scaled up
    by the sizes of both samples. Otherwise the assumed coverage of a whole crawl is scaled down to
    the share of its records that the files hold.
    """
    if crawl is None:
        return wanted * assumed.coverage
    records = crawl.records * crawl.scale
    if crawl.matches >= MIN_MATCHES:
        found = crawl.matches * crawl.scale * articles / max(sample.articles, 1)
    else:
        found = wanted * assumed.coverage * min(1.0, records / assumed.crawl_pages)
    return min(found, wanted, records)


def kept_chars(chars: float, pages: PageSample, examples: float, max_paragraphs: int) -> float:
    """The characters of the paragraphs that examples of at most `max_paragraphs` keep."""
    chars_per_paragraph = pages.chars / pages.paragraphs if pages.paragraphs else 1.0
    mean = chars / chars_per_paragraph / examples if examples else 0.0
    return chars * -math.expm1(-max_paragraphs / mean) if mean else 0.0
