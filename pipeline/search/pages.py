"""Crawl files -> candidates: each page against all queries, by one worker."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from wikisum.crawl.errors import BadPage, BadUrl
from wikisum.crawl.extract.page_fields import read_fields
from wikisum.crawl.urls import canonical_url, is_wikipedia
from wikisum.crawl.warc.warc import Capture, Rejected
from wikisum.pipeline.engine.arrays import read_arrays, write_arrays
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import SearchSettings
from wikisum.pipeline.pages.document import drop_record
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.pages.read_records import read_records
from wikisum.pipeline.records import DROPPED, Dropped
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.search.merge import SortedRuns, write_hits
from wikisum.pipeline.search.pool import Pool
from wikisum.pipeline.search.queries import FOLDER
from wikisum.ranker.search.bm25 import Collection
from wikisum.ranker.search.phrases import WordHashes
from wikisum.ranker.search.query_index import QueryIndex
from wikisum.ranker.search.searcher import (
    PageTerms,
    Searcher,
    Statistics,
    StatisticsCounter,
    add_up,
    page_terms,
)

STAGE = "candidates"


class CrawledPage(NamedTuple):
    """A page as searching sees it: canonical URL, that as it was crawled, and its terms."""

    url: str
    source_url: str
    terms: PageTerms


class StoredStatistics(NamedTuple):
    """`Statistics` as arrays alone; `totals` are the page count and the fields' lengths."""

    totals: np.ndarray
    term_holders: np.ndarray
    phrase_holders: np.ndarray


def sample(crawl_files: list[InputFile], most: int) -> list[InputFile]:
    """At most so many of the files, evenly spread over them."""
    count = min(most, len(crawl_files))
    return [crawl_files[i * len(crawl_files) // count] for i in range(count)]


@lru_cache(maxsize=1)
def load_index(path: str, fingerprint: str) -> QueryIndex:
    """The index, mapped: the processes of a machine share its memory. Kept for the next call."""
    return QueryIndex(*read_arrays(path, fingerprint))


@lru_cache(maxsize=1)
def load_statistics(paths: tuple[str, ...], fingerprint: str) -> Statistics:
    """The statistics of all parts, added up. Kept for the next call."""
    stored = [
        StoredStatistics(*read_arrays(path, f"{fingerprint}-{i}")) for i, path in enumerate(paths)
    ]
    return add_up(
        Statistics(Collection(int(s.totals[0]), s.totals[1:]), s.term_holders, s.phrase_holders)
        for s in stored
    )


def read_pages(
    shares: list[FileShare],
    settings: SearchSettings,
    access: Access,
    counts: Counter[str],
    effort: Counter[str],
    ticker: Ticker,
) -> Iterator[CrawledPage | Dropped]:
    """The pages of shares of crawl files that may be found, and the records that are none.

    Wikipedia's own pages and those in another language are passed over and counted.
    """
    words = WordHashes()

    def wanted(url: str) -> bool:
        counts["records_in"] += 1
        try:
            own = is_wikipedia(url)
        except BadUrl:
            own = False  # let it through to be dropped
        counts["records_wikipedia_itself"] += own
        return not own

    for share in shares:
        most_bytes = settings.max_page_bytes
        for item in read_records(share, wanted, most_bytes, access, ticker, effort):
            ticker.add(items=1)
            page = _read_page(item, share.file.name, settings.language, words)
            if page is None:
                counts["pages_other_language"] += 1
            else:
                yield page


def _read_page(
    item: Capture | Rejected, file: str, language: str | None, words: WordHashes
) -> CrawledPage | Dropped | None:
    """The page, why it is none, or None if it is in another language."""
    if isinstance(item, Rejected):
        return drop_record(item.url, item.reason, STAGE, file, item.offset, item.detail)
    try:
        url = canonical_url(item.url)
        fields = read_fields(item.payload, item.charset, item.kind)
    except (BadUrl, BadPage) as error:
        return drop_record(item.url, error.reason, STAGE, file, item.offset, str(error))
    if language and fields.language and fields.language != language:
        return None
    return CrawledPage(url, item.url, page_terms(fields, words))


@dataclass(frozen=True)
class CountPages:
    """Shares of crawl files -> what BM25 must know of the collection it stands for."""

    out: str
    index_path: str
    index_fingerprint: str
    settings: SearchSettings
    access: Access
    ticker: Ticker

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        counter = StatisticsCounter(load_index(self.index_path, self.index_fingerprint))
        effort: Counter[str] = Counter()
        for page in read_pages(shares, self.settings, self.access, Counter(), effort, self.ticker):
            if isinstance(page, CrawledPage):
                counter.add(page.terms)
        self.ticker.flush()
        found = counter.statistics()
        totals = np.array([found.collection.page_count, *found.collection.field_lengths])
        stored = StoredStatistics(totals, found.term_holders, found.phrase_holders)
        written = write_arrays(self.out, f"{FOLDER}/statistics-{index:05d}.arrays", stored)
        counts = {"pages_out": found.collection.page_count}
        return PartResult([written], counts, effort=dict(effort))


@dataclass(frozen=True)
class FindCandidates:
    """Shares of crawl files -> one shard of candidates, by query, and one of `dropped/`."""

    out: str
    part_count: int
    index_path: str
    index_fingerprint: str
    statistics_paths: tuple[str, ...]
    statistics_fingerprint: str
    settings: SearchSettings
    access: Access
    ticker: Ticker

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        counts: Counter[str] = Counter()
        effort: Counter[str] = Counter()
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        dropped = ShardWriter(self.out, f"dropped/dropped-candidates-{name}", DROPPED, {})
        pages = read_pages(shares, self.settings, self.access, counts, effort, self.ticker)
        with tempfile.TemporaryDirectory() as folder, dropped:
            runs = SortedRuns(folder, self.settings)
            for hits in self._hits(pages, dropped, counts):
                runs.add(hits)
            path = f"{FOLDER}/candidates-{name}"
            found, counts["candidates_out"] = write_hits(self.out, path, runs.merged())
        self.ticker.flush()
        written = [f for w in (found, dropped) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(effort))

    def _hits(
        self, pages: Iterable[CrawledPage | Dropped], dropped: ShardWriter, counts: Counter[str]
    ) -> Iterator[pa.Table]:
        """The best hits of the pages, some pages at a time; what is no page is dropped."""
        queries = load_index(self.index_path, self.index_fingerprint)
        statistics = load_statistics(self.statistics_paths, self.statistics_fingerprint)
        searcher = Searcher(queries, statistics, self.settings.clone_threshold)
        pool = Pool(self.settings, queries.numbers)
        for page in pages:
            if isinstance(page, Dropped):
                counts[f"dropped_{page.reason}"] += 1
                dropped.write(page)
                continue
            answers = searcher.answers(page.terms)
            counts["pages_out"] += 1
            counts["clones"] += answers.clone_count
            pool.add(page.url, page.source_url, answers.queries, answers.scores)
            if pool.is_full:
                yield pool.take()
        yield pool.take()
