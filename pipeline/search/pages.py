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
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.warc.warc import PageRecord, Rejection
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.shards import read_arrays
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.pages.document import drop_record
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.pages.read_records import read_records
from wikisum.pipeline.records import Candidate, Dropped
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.search.merge import GROUP_ROWS, SortedRuns
from wikisum.pipeline.search.pool import Pool
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.pipeline.wanted.urls import unwanted_reason
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


class CrawledPage(NamedTuple):
    """A page to search: its canonical URL, its URL in the crawl, and its terms."""

    url: str
    source_url: str
    terms: PageTerms


class StoredStatistics(NamedTuple):
    """`Statistics` as arrays alone; `totals` are the page count and the fields' lengths."""

    totals: np.ndarray
    term_holders: np.ndarray
    phrase_holders: np.ndarray


def sample(crawl_files: list[InputFile], max_count: int) -> list[InputFile]:
    """At most `max_count` of the files, at equal distances."""
    count = min(max_count, len(crawl_files))
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
    shares: list[FileShare], settings: SearchSettings, access: Access, part: PartWriter
) -> Iterator[CrawledPage | Dropped]:
    """Yield the pages of shares of crawl files, and dropped rows for unusable records.

    Wikipedia's own pages and those in another language are skipped and counted.
    """
    words = WordHashes()

    def wanted(url: str) -> bool:
        part.counts["records_in"] += 1
        try:
            reason = unwanted_reason(url)
        except BadUrl:
            return True  # let it through to be dropped
        if reason is not None:
            part.counts[f"records_{reason}"] += 1
        return reason is None

    for share in shares:
        for item in read_records(share, wanted, settings.max_page_bytes, access, part):
            part.ticker.add(items=1)
            page = _read_page(item, share.file.name, part.stage, settings.language, words)
            if page is None:
                part.counts["pages_other_language"] += 1
            else:
                yield page


def _read_page(
    item: PageRecord | Rejection, file: str, stage: str, language: str | None, words: WordHashes
) -> CrawledPage | Dropped | None:
    """The page, a dropped row if it is unusable, or None if it is in another language."""
    if isinstance(item, Rejection):
        return drop_record(item.url, item.reason, stage, file, item.offset, item.detail)
    try:
        url = canonical_url(item.url)
        fields = read_fields(item.payload, item.charset, item.kind)
    except (BadUrl, BadPage) as error:
        return drop_record(item.url, error.reason, stage, file, item.offset, str(error))
    if language and fields.language and fields.language != language:
        return None
    return CrawledPage(url, item.url, page_terms(fields, words))


@dataclass(frozen=True)
class CountPages:
    """Shares of crawl files -> the statistics of the collection that they are a sample of."""

    writer: StageWriter
    index_path: str
    index_fingerprint: str
    settings: SearchSettings
    access: Access

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        counter = StatisticsCounter(load_index(self.index_path, self.index_fingerprint))
        with self.writer.part(index) as part:
            for page in read_pages(shares, self.settings, self.access, part):
                if isinstance(page, CrawledPage):
                    counter.add(page.terms)
            found = counter.statistics()
            totals = np.array([found.collection.page_count, *found.collection.field_lengths])
            part.write_arrays(StoredStatistics(totals, found.term_holders, found.phrase_holders))
        part.counts = Counter(pages_out=found.collection.page_count)
        return part.result()


@dataclass(frozen=True)
class FindCandidates:
    """Shares of crawl files -> one shard of candidates, by query, and one of `dropped/`."""

    writer: StageWriter
    index_path: str
    index_fingerprint: str
    statistics_paths: tuple[str, ...]
    statistics_fingerprint: str
    settings: SearchSettings
    access: Access

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        with tempfile.TemporaryDirectory() as folder, self.writer.part(index) as part:
            runs = SortedRuns(folder, self.settings)
            for hits in self._hits(read_pages(shares, self.settings, self.access, part), part):
                runs.add(hits)
            for table in runs.merged():
                part.write_table(Candidate, table, GROUP_ROWS)
        return part.result()

    def _hits(self, pages: Iterable[CrawledPage | Dropped], part: PartWriter) -> Iterator[pa.Table]:
        """Yield the best hits of some pages at a time; write the rows of unusable pages."""
        queries = load_index(self.index_path, self.index_fingerprint)
        statistics = load_statistics(self.statistics_paths, self.statistics_fingerprint)
        searcher = Searcher(queries, statistics, self.settings.clone_threshold)
        pool = Pool(self.settings, queries.numbers)
        for page in pages:
            if isinstance(page, Dropped):
                part.drop_row(page)
                continue
            answers = searcher.answers(page.terms)
            part.counts["pages_out"] += 1
            part.counts["clones"] += answers.clone_count
            pool.add(page.url, page.source_url, answers.queries, answers.scores)
            if pool.is_full:
                yield pool.take()
        yield pool.take()
