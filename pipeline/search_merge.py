"""Candidates in files sorted by query -> the best of each query, merged file by file, row by row.

What is held is one row group a file, however many candidates there are: a tree of merges does what
a shuffle would, whose data the embedded runner keeps in memory.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import BinaryIO

import pyarrow.parquet as pq

from pipeline import files
from pipeline.options import SearchSettings
from pipeline.progress import Ticker
from pipeline.records import CANDIDATE, Candidate
from pipeline.search_queries import FOLDER
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult
from ranker.best_pages import Hit, best_pages

FAN_IN = 64
LAST = (1 << 63) - 1


def best_of_queries(
    paths: Iterable[str], settings: SearchSettings, first: int = 0, last: int = LAST
) -> Iterator[tuple[int, list[Hit]]]:
    """(number of a query, its best hits) for the queries from `first` to `last`, in order.

    Each file is sorted by query, as Candidates.
    """
    with ExitStack() as stack:
        opened = [stack.enter_context(files.open_input(path)) for path in paths]
        rows = merge(*(_rows(raw, first, last) for raw in opened), key=itemgetter(0))
        for query, some in groupby(rows, key=itemgetter(0)):
            hits = (Hit(*hit) for _, *hit in some)
            yield query, best_pages(hits, settings.results, settings.per_host)


def _rows(raw: BinaryIO, first: int, last: int) -> Iterator[tuple]:
    """The rows of a sorted file whose query lies in the range; groups without any are not read."""
    file = pq.ParquetFile(raw)
    for group in range(file.num_row_groups):
        told = file.metadata.row_group(group).column(0).statistics
        if told.min <= last and told.max >= first:
            table = file.read_row_group(group)
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                if first <= row[0] <= last:
                    yield row


class SortedRuns:
    """Candidates put aside in sorted files of a local folder, to be merged in the end."""

    def __init__(self, folder: str, settings: SearchSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._paths: list[str] = []
        self._count = 0

    def add(self, hits_by_query: Iterable[tuple[int, list[Hit]]]) -> None:
        """Put hits aside, queries in rising order."""
        if len(self._paths) == FAN_IN:
            self._paths = [self._write(self.merged())]
        self._paths.append(self._write(hits_by_query))

    def merged(self) -> Iterator[tuple[int, list[Hit]]]:
        """The best hits of each query, in order."""
        return best_of_queries(self._paths, self._settings)

    def _write(self, hits_by_query: Iterable[tuple[int, list[Hit]]]) -> str:
        name = f"run-{self._count}.parquet"
        self._count += 1
        with ShardWriter(self._folder, name, CANDIDATE, {}) as run:
            write_hits(run, hits_by_query)
        return files.join(self._folder, name)


def write_hits(to: ShardWriter, hits_by_query: Iterable[tuple[int, list[Hit]]]) -> int:
    """Write hits as candidates; how many there are."""
    count = 0
    for query, hits in hits_by_query:
        for hit in hits:
            to.write(Candidate(query, *hit))
        count += len(hits)
    return count


@dataclass(frozen=True)
class MergeCandidates:
    """Files of candidates -> one, with the best of each query."""

    out: str
    level: int
    settings: SearchSettings
    ticker: Ticker

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        path = f"{FOLDER}/merged-{self.level}-{index:05d}.parquet"
        with ShardWriter(self.out, path, CANDIDATE, {}) as merged:
            count = write_hits(merged, best_of_queries(paths, self.settings))
        self.ticker.add(items=count, work=count)
        self.ticker.flush()
        return PartResult([f for f in [merged.file] if f], {"candidates_out": count})
