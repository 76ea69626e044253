"""Hits in files sorted by query -> the best hits of each query, in constant memory.

Only one row group per file is in memory, however many hits there are. A tree of merges replaces a
shuffle, which the local runner would keep in memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import CANDIDATE, Candidate
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.ranker.search.best_pages import best_hits

FAN_IN = 64
GROUP_ROWS = 8192
LAST = (1 << 63) - 1
_TEXT = pa.dictionary(pa.int32(), pa.string())
# CANDIDATE with texts by number, since many hits are of one page
HITS = pa.schema({"query": pa.int64(), "score": pa.float64(), "url": _TEXT, "source_url": _TEXT})


def best_of(hits: pa.Table, settings: SearchSettings) -> pa.Table:
    """The best hits of each query, queries in order."""
    url, urls = _coded(hits["url"])
    source, sources = _coded(hits["source_url"])
    url_rank, source_rank = _ranks(urls)[url], _ranks(sources)[source]
    best = best_hits(
        hits["query"].to_numpy(),
        hits["score"].to_numpy(),
        url_rank * len(sources) + source_rank,
        url_rank,
        _ranks([text.split("/", 3)[2] for text in urls])[url],
        settings.results,
        settings.per_host,
    )
    return hits.take(best)


def _coded(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Return the number of each row's text, and the texts by number."""
    whole = column.unify_dictionaries().combine_chunks()
    return whole.indices.to_numpy().astype(np.int64), whole.dictionary.to_pylist()


def _ranks(texts: list[str]) -> np.ndarray:
    """The rank of each text in sorted order; equal texts have the same rank."""
    return np.unique(np.array(texts, object), return_inverse=True)[1].astype(np.int64)


class _Source:
    """The rows of a sorted file whose query lies in a range, a row group at a time."""

    def __init__(self, raw: BinaryIO, first: int, last: int) -> None:
        self._file = pq.ParquetFile(raw, read_dictionary=["url", "source_url"])
        self._bounds = first, last
        groups = (self._file.metadata.row_group(g) for g in range(self._file.num_row_groups))
        stats = [group.column(0).statistics for group in groups]
        self._groups = [i for i, s in enumerate(stats) if s.min <= last and s.max >= first]
        self._held = HITS.empty_table()

    @property
    def has_more(self) -> bool:
        return bool(self._groups)

    @property
    def last_query(self) -> int:
        """The last query in memory, or -1; the next row group may have more of its hits."""
        return self._held["query"][-1].as_py() if len(self._held) else -1

    def read_group(self) -> None:
        """Read the next row group."""
        group = self._file.read_row_group(self._groups.pop(0)).cast(HITS)
        first, last = self._bounds
        low, high = np.searchsorted(group["query"].to_numpy(), [first, last + 1])
        self._held = pa.concat_tables([self._held, group.slice(low, high - low)])

    def take_before(self, query: int) -> pa.Table:
        """Remove and return the held rows of queries before `query`."""
        cut = int(np.searchsorted(self._held["query"].to_numpy(), query))
        taken, self._held = self._held.slice(0, cut), self._held.slice(cut)
        return taken


def merged(
    paths: Iterable[str], settings: SearchSettings, first: int = 0, last: int = LAST - 1
) -> Iterator[pa.Table]:
    """Yield the best hits of the queries from `first` to `last` in order, some at a time.

    Each file is sorted by query, in the schema CANDIDATE or HITS.
    """
    with ExitStack() as stack:
        opened = [stack.enter_context(files.open_input(path)) for path in paths]
        sources = [_Source(raw, first, last) for raw in opened]
        bound = -1
        while bound < LAST:
            for source in sources:
                while source.has_more and source.last_query <= bound:
                    source.read_group()
            # No file has more hits of the queries before the least of the last ones held.
            bound = min((s.last_query for s in sources if s.has_more), default=LAST)
            ready = [table for s in sources if len(table := s.take_before(bound))]
            if ready:
                yield best_of(pa.concat_tables(ready), settings)


class SortedRuns:
    """Sorted files of hits in a local folder, which are merged at the end."""

    def __init__(self, folder: str, settings: SearchSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._paths: list[str] = []
        self._count = 0

    def add(self, hits: pa.Table) -> None:
        """Add hits that are sorted by query."""
        if len(self._paths) == FAN_IN:
            self._paths = [self._write(self.merged())]
        self._paths.append(self._write([hits]))

    def merged(self) -> Iterator[pa.Table]:
        """The best hits of each query, in order."""
        return merged(self._paths, self._settings)

    def _write(self, tables: Iterable[pa.Table]) -> str:
        name = f"run-{self._count}.parquet"
        self._count += 1
        with open_shard(self._folder, name, CANDIDATE, {}) as shard:
            for table in tables:
                shard.write_table(table, GROUP_ROWS)
        return files.join(self._folder, name)


@dataclass(frozen=True)
class MergeCandidates:
    """Files of candidates -> one, with the best of each query."""

    writer: StageWriter
    settings: SearchSettings

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        with self.writer.part(index) as part:
            for table in merged(paths, self.settings):
                part.write_table(Candidate, table, GROUP_ROWS)
                part.ticker.add(items=len(table), work=len(table))
        return part.result()
