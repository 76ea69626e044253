"""`wanted/` -> the URLs to look up in a crawl's index, in the order of the index."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow.parquet as pq

from wikisum.crawl.index.surt import surt_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import PartResult


class Lookup(NamedTuple):
    """A canonical URL to look up for `wanted`, which is the same one or redirects to it."""

    surt: str
    url: str
    wanted: str


@dataclass(frozen=True)
class SortKeys:
    """One shard of `wanted/` -> its URLs except Wikipedia's own, each once, sorted by key."""

    writer: StageWriter

    def __call__(self, index: int, path: str) -> PartResult:
        rows = read_rows(files.join(self.writer.out, path), ["url", "reason"])
        urls = {row["url"] for row in rows if row["reason"] is None}
        with self.writer.part(index) as part:
            for lookup in sorted(Lookup(surt_key(u), u, u) for u in urls):
                part.write(lookup)
                part.ticker.add(items=1)
        return part.result()


class Lookups(NamedTuple):
    """The `total` lookups of sorted files, or of them only those for a URL in `wanted`."""

    paths: tuple[str, ...]
    total: int
    wanted: frozenset[str] | None = None

    def between(self, low: str, high: str | None) -> Iterator[Lookup]:
        """The lookups with keys from `low` to `high`, both included, in order, streamed."""
        for lookup in heapq.merge(*(_between(path, low, high) for path in self.paths)):
            if self.wanted is None or lookup.wanted in self.wanted:
                yield lookup


def _between(path: str, low: str, high: str | None) -> Iterator[Lookup]:
    """The lookups of one file. It is open only while a row group is read.

    As many files as there are shards are merged at once, and a process may open about 1,000.
    """
    with files.open_input(path) as raw:
        metadata = pq.read_metadata(raw)
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(0).statistics
        if statistics is not None and statistics.has_min_max:
            if statistics.max < low:
                continue
            if high is not None and statistics.min > high:
                return
        with files.open_input(path) as raw:
            rows = pq.ParquetFile(raw, metadata=metadata).read_row_group(group).to_pylist()
        for row in rows:
            lookup = Lookup(**row)
            if high is not None and lookup.surt > high:
                return
            if lookup.surt >= low:
                yield lookup
