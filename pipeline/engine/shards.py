"""Parquet shards, written and read a row group at a time, and arrays that processes map.

Both are visible only when they are complete.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.engine.files import AtomicFile, join, local_copy, open_input
from wikisum.pipeline.records import to_table
from wikisum.ranker.data.paths import is_remote

ROW_GROUP_ROWS = 256
# Small files that are read at the same time. On an object store each is a request that waits for an
# answer; on a local disk more readers only take more memory.
READERS, LOCAL_READERS = 16, 2
R = TypeVar("R", bound=tuple)
T = TypeVar("T")


class ShardFile(NamedTuple):
    """A finished file of ours; `path` is relative to the output folder."""

    path: str
    rows: int
    size_bytes: int
    sha256: str


class ShardWriter:
    """Writes records to an open file as Parquet, a row group at a time.

    `file` is set once the block of `open_shard` has been left without an error.
    """

    def __init__(
        self, file: AtomicFile, path: str, schema: pa.Schema, metadata: dict[str, str]
    ) -> None:
        self.path = path
        self.file: ShardFile | None = None
        self.row_count = 0
        self._schema = schema
        self._rows: list[tuple] = []
        self._writer = pq.ParquetWriter(
            file,
            schema.with_metadata(metadata),
            compression="zstd",
            compression_level=3,
            store_schema=True,
        )

    def write(self, record: tuple) -> None:
        """Add a record, its fields in the order of the schema."""
        self._rows.append(record)
        if len(self._rows) == ROW_GROUP_ROWS:
            self._flush()

    def write_table(self, table: pa.Table, group_rows: int) -> None:
        """Add the rows of a table, in row groups of `group_rows` rows."""
        self._flush()
        if len(table):
            self._writer.write_table(table.cast(self._writer.schema), row_group_size=group_rows)
            self.row_count += len(table)

    def _flush(self) -> None:
        if self._rows:
            table, self._rows = to_table(self._rows, self._schema), []
            self.write_table(table, ROW_GROUP_ROWS)

    def close(self) -> None:
        """Write what is left and the footer."""
        self._flush()
        self._writer.close()


@contextmanager
def open_shard(
    out: str, path: str, schema: pa.Schema, metadata: dict[str, str]
) -> Iterator[ShardWriter]:
    """Open a shard at `path` in the folder `out`; it is visible once the block is left."""
    with AtomicFile(join(out, path)) as file:
        writer = ShardWriter(file, path, schema, metadata)
        yield writer
        writer.close()
    writer.file = ShardFile(path, writer.row_count, file.size_bytes, file.sha256)


def read_tables(path: str, columns: list[str] | None = None) -> Iterator[pa.Table]:
    """The row groups of a Parquet file."""
    with open_input(path) as raw:
        file = pq.ParquetFile(raw)
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=columns)


def tables_of(out: str, paths: Iterable[str], columns: list[str]) -> Iterator[pa.Table]:
    """The row groups of Parquet files, whose paths are relative to the folder `out`."""
    for path in paths:
        yield from read_tables(join(out, path), columns)


def read_each(read: Callable[[str], T], paths: Iterable[str]) -> Iterator[T]:
    """What `read` returns for each path, in their order.

    16 remote files or 2 local ones are read at the same time, and at most as many results wait to
    be taken.
    """
    paths = list(paths)
    readers = READERS if any(map(is_remote, paths)) else LOCAL_READERS
    to_read = iter(paths)
    with ThreadPoolExecutor(readers) as pool:
        started = deque(pool.submit(read, path) for path in islice(to_read, readers))
        while started:
            result = started.popleft().result()
            started.extend(pool.submit(read, path) for path in islice(to_read, 1))
            yield result


def read_rows(path: str, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as dictionaries, a row group at a time."""
    for table in read_tables(path, columns):
        yield from table.to_pylist()


def read_records(kind: type[R], path: str) -> Iterator[R]:
    """The rows of a Parquet file as records of that kind, none of whose fields are records."""
    return (kind(**row) for row in read_rows(path))


def row_count(path: str) -> int:
    """The number of rows of a Parquet file, from its footer."""
    with open_input(path) as raw:
        return int(pq.ParquetFile(raw).metadata.num_rows)


def write_arrays(out: str, path: str, arrays: Any) -> ShardFile:
    """Write the fields of a NamedTuple of arrays to one file; return the file's entry."""
    columns = [
        pa.LargeListArray.from_arrays(pa.array([0, len(array)], pa.int64()), pa.array(array))
        for array in arrays
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=list(arrays._fields))
    with (
        AtomicFile(join(out, path)) as file,
        pa.ipc.new_file(file, batch.schema) as writer,
    ):
        writer.write_batch(batch)
    return ShardFile(path, len(arrays[0]), file.size_bytes, file.sha256)


def read_arrays(path: str, key: str) -> list[np.ndarray]:
    """The arrays in order, mapped. A remote file is copied once; `key` names its content."""
    with pa.memory_map(local_copy(path, key)) as mapped:
        batch = pa.ipc.open_file(mapped).get_batch(0)
    return [column.values.to_numpy(zero_copy_only=True) for column in batch.columns]
