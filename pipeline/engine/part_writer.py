"""Write the files of one part of a stage, with its counts, dropped rows and progress."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardFile, ShardWriter, open_shard, write_arrays
from wikisum.pipeline.engine.stage import Stage
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import Dropped


class PartWriter:
    """The open shards of one part, one for each kind of record.

    `counts` and `costs` may be added to. Files that are no shards are written to `path` by the
    caller and then added.
    """

    def __init__(self, writer: "StageWriter", name: str) -> None:
        self.stage = writer.stage.name
        self.ticker = writer.ticker
        self.counts: Counter[str] = Counter()
        self.costs: Counter[str] = Counter()
        self._out, self._name = writer.out, name
        self._outputs = {output.record: output for output in writer.stage.all_outputs}
        self._shards: dict[type, ShardWriter] = {}
        self._files: list[ShardFile] = []

    def path(self, record: type) -> str:
        """The path of the part's file of such records, relative to the output folder."""
        output = self._outputs[record]
        return f"{output.prefix}{self._name}{output.suffix}"

    def write(self, record: tuple) -> None:
        """Add a record to the shard of its type, and count it under the output's `count`."""
        self._shards[type(record)].write(record)
        if (name := self._outputs[type(record)].count) is not None:
            self.counts[name] += 1

    def write_table(self, record: type, table: pa.Table, group_rows: int) -> None:
        """Add the rows of a table to the shard of a record type."""
        self._shards[record].write_table(table, group_rows)
        if (name := self._outputs[record].count) is not None:
            self.counts[name] += len(table)

    def drop(
        self,
        kind: str,
        reason: str,
        *,
        article: str | None = None,
        url: str | None = None,
        file: str | None = None,
        offset: int | None = None,
        detail: str | None = None,
    ) -> None:
        """Add a dropped row of this stage, counted as `dropped_<reason>`."""
        self.drop_row(Dropped(kind, article, url, self.stage, reason, file, offset, detail))

    def drop_row(self, row: Dropped, *, with_kind: bool = False) -> None:
        """Add a dropped row, counted as `dropped_<reason>` or `dropped_<kind>_<reason>`."""
        self.write(row)
        name = f"{row.kind}_{row.reason}" if with_kind else row.reason
        self.counts[f"dropped_{name}"] += 1

    def write_arrays(self, arrays: Any) -> None:
        """Write the fields of a NamedTuple of arrays to the part's file of that type."""
        self.add_file(write_arrays(self._out, self.path(type(arrays)), arrays))

    def add_file(self, file: ShardFile) -> None:
        """Add a finished file to those of the part."""
        self._files.append(file)

    def result(self, **extra: Any) -> PartResult:
        """Files, counts and costs of the part, once the block was left without an error."""
        return PartResult(self._files, dict(self.counts), extra, dict(self.costs))

    @contextmanager
    def _opened(self, metadata: dict[str, str]) -> Iterator["PartWriter"]:
        with ExitStack() as stack:
            for record, output in self._outputs.items():
                if record is not None and output.schema is not None:
                    # work files have no metadata: equal rows of other settings are equal files
                    about = {} if output.is_internal else metadata
                    self._shards[record] = stack.enter_context(
                        open_shard(self._out, self.path(record), output.schema, about)
                    )
            yield self
            for shard in self._shards.values():  # if one cannot be finished, none gets its name
                shard.close()
        written = [file for shard in self._shards.values() if (file := shard.file)]
        self._files = [*written, *self._files]
        self.ticker.flush()


@dataclass(frozen=True)
class StageWriter:
    """Opens the parts of a stage for writing. Sent to the workers.

    Example::

        with self.writer.part(index) as part:
            for record in read(task):
                part.write(record)
                part.ticker.add(items=1)
        return part.result()
    """

    out: str
    stage: Stage
    part_count: int
    metadata: dict[str, str]
    ticker: Ticker

    def part(
        self, index: int, name: str | None = None, metadata: dict[str, str] | None = None
    ) -> AbstractContextManager[PartWriter]:
        """Open the shards of part `index`, called `name`, or else `00000-of-00008`.

        They become visible when the block is left, and none does if it is left with an error.
        """
        name = name or f"{index:05d}-of-{self.part_count:05d}"
        return PartWriter(self, name)._opened(self.metadata if metadata is None else metadata)

    def part_like(
        self, index: int, path: str, metadata: dict[str, str] | None = None
    ) -> AbstractContextManager[PartWriter]:
        """Open the shards of part `index`, called like the shard at `path` that it is made of."""
        return self.part(index, os.path.basename(path).removesuffix(".parquet"), metadata)
