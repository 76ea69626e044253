"""`wanted/` -> the URLs to look up in a crawl's index, sorted as the index is."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.crawl.index.surt import surt_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardWriter, read_rows
from wikisum.pipeline.engine.workspace import PartResult

FOLDER = ".work/keys-of-urls"


class Lookup(NamedTuple):
    """A canonical URL to look up for `wanted`, which is the same one or redirects to it."""

    surt: str
    url: str
    wanted: str


LOOKUP = pa.schema({"surt": pa.string(), "url": pa.string(), "wanted": pa.string()})


@dataclass(frozen=True)
class SortKeys:
    """One shard of `wanted/` -> its URLs but Wikipedia's own, each once, sorted by key."""

    out: str
    ticker: Ticker

    def __call__(self, index: int, path: str) -> PartResult:
        rows = read_rows(files.join(self.out, path), ["url", "reason"])
        urls = {row["url"] for row in rows if row["reason"] is None}
        lookups = sorted(Lookup(surt_key(u), u, u) for u in urls)
        with ShardWriter(self.out, f"{FOLDER}/{index:05d}.parquet", LOOKUP, {}) as writer:
            for lookup in lookups:
                writer.write(lookup)
                self.ticker.add(items=1)
        self.ticker.flush()
        return PartResult([f for f in [writer.file] if f], {"urls_out": len(lookups)})


class Lookups(NamedTuple):
    """The look-ups of sorted files, `about` so many; only those of `wanted`, if it is told."""

    paths: tuple[str, ...]
    about: int
    wanted: frozenset[str] | None = None

    def between(self, low: str, high: str | None) -> Iterator[Lookup]:
        """Those with keys from `low` to `high`, both included, in order, streamed."""
        for lookup in heapq.merge(*(_between(path, low, high) for path in self.paths)):
            if self.wanted is None or lookup.wanted in self.wanted:
                yield lookup


def _between(path: str, low: str, high: str | None) -> Iterator[Lookup]:
    with files.open_input(path) as raw:
        file = pq.ParquetFile(raw)
        for group in range(file.num_row_groups):
            told = file.metadata.row_group(group).column(0).statistics
            if told is not None and told.has_min_max:
                if told.max < low:
                    continue
                if high is not None and told.min > high:
                    return
            for row in file.read_row_group(group).to_pylist():
                lookup = Lookup(**row)
                if high is not None and lookup.surt > high:
                    return
                if lookup.surt >= low:
                    yield lookup
