"""Parquet shards: written a row group at a time, visible when complete, read a row group a time."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.engine.files import AtomicFile, join, open_input
from wikisum.pipeline.records import to_table

ROW_GROUP_ROWS = 256


class ShardFile(NamedTuple):
    """A finished file of ours; `path` is relative to the output folder."""

    path: str
    rows: int
    size_bytes: int
    sha256: str


class ShardWriter:
    """Records to one Parquet shard, a row group at a time, visible when complete.

    `file` is there after the block has been left without an error.
    """

    def __init__(self, out: str, path: str, schema: pa.Schema, metadata: dict[str, str]) -> None:
        self._relative = path
        self._file = AtomicFile(join(out, path))
        self._schema = schema
        self._rows: list[tuple] = []
        self._count = 0
        self._writer = pq.ParquetWriter(
            self._file,
            schema.with_metadata(metadata),
            compression="zstd",
            compression_level=3,
            store_schema=True,
        )
        self.file: ShardFile | None = None

    def write(self, record: tuple) -> None:
        self._rows.append(record)
        if len(self._rows) == ROW_GROUP_ROWS:
            self._flush()

    def write_table(self, table: pa.Table, group_rows: int) -> None:
        """Write the rows of a table, in row groups of so many."""
        self._flush()
        if len(table):
            self._writer.write_table(table.cast(self._writer.schema), row_group_size=group_rows)
            self._count += len(table)

    def _flush(self) -> None:
        if self._rows:
            table = to_table(self._rows, self._schema)
            self._writer.write_table(table.cast(self._writer.schema), row_group_size=ROW_GROUP_ROWS)
            self._count += len(self._rows)
            self._rows = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._flush()
                self._writer.close()
        except BaseException as failure:
            self._file.__exit__(type(failure), failure, failure.__traceback__)
            raise
        self._file.__exit__(kind, error, trace)
        file = self._file
        self.file = ShardFile(self._relative, self._count, file.size_bytes, file.sha256)


def read_rows(path: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as dictionaries, a row group at a time."""
    with open_input(path) as raw:
        file = pq.ParquetFile(raw)
        for group in range(file.num_row_groups):
            yield from file.read_row_group(group, columns=columns).to_pylist()


def row_count(path: str) -> int:
    """The number of rows of a Parquet file, from its footer."""
    with open_input(path) as raw:
        return int(pq.ParquetFile(raw).metadata.num_rows)
