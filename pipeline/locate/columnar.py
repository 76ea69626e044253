"""The columnar index: Parquet files sorted by key, of which only what is needed is read."""

import gzip
import io
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wikisum.crawl.errors import BadAnswer, BadLine, BadRecord
from wikisum.crawl.index.cdx import Entry, checked
from wikisum.pipeline.locate.reader import Answer, IndexReader, IndexSlice, by_key
from wikisum.pipeline.remote.access import Remote

MAX_LIST_BYTES = 16 << 20
_KEY = "url_surtkey"
# column -> field; those behind `url` came with time, and are empty where they are not there
_COLUMNS = {
    _KEY: "surt",
    "fetch_time": "timestamp",
    "url": "url",
    "fetch_status": "status",
    "content_digest": "digest",
    "warc_record_offset": "offset",
    "warc_record_length": "length",
    "warc_filename": "filename",
    "content_mime_type": "mime",
    "content_mime_detected": "mime_detected",
    "content_truncated": "truncated",
    "fetch_redirect": "redirect",
}
_OPTIONAL = frozenset(
    ("content_mime_type", "content_mime_detected", "content_truncated", "fetch_redirect")
)


class _ReadRefused(Exception):
    """A file was read while its bytes were withheld."""


class _Ranges(io.RawIOBase):
    """A file under the crawl's root as one that can seek; `is_withheld` refuses reads."""

    def __init__(self, remote: Remote, path: str) -> None:
        self._remote = remote
        self._path = path
        self._size = remote.size(path)
        self._offset = 0
        self.is_withheld = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._size}[whence]
        self._offset = base + offset
        return self._offset

    def tell(self) -> int:
        return self._offset

    def readinto(self, buffer: Any) -> int:
        if self.is_withheld:
            raise _ReadRefused
        length = max(0, min(len(buffer), self._size - self._offset))
        if length:
            buffer[:length] = self._remote.read(self._path, self._offset, length)
        self._offset += length
        return length


def table_paths(remote: Remote, crawl: str) -> list[str]:
    """The files of a crawl's table of pages. Raises BadAnswer."""
    path = f"crawl-data/{crawl}/cc-index-table.paths.gz"
    data = remote.get(path, MAX_LIST_BYTES)
    try:
        lines = gzip.decompress(data).decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadAnswer("bad_index", f"{path} is not a list of files: {error}") from error
    return [line.strip() for line in lines if "/subset=warc/" in line]


def table_answers(task: IndexSlice, reader: IndexReader) -> Iterator[Answer]:
    """The answers of every `part_count`-th file of the table.

    Raises BadAnswer or BadRecord for a file that cannot be read.
    """
    for path in table_paths(reader.remote, task.crawl)[task.part :: task.part_count]:
        try:
            yield from _file_answers(_Ranges(reader.remote, path), reader)
        except (pa.ArrowException, KeyError, OSError, UnicodeDecodeError) as error:
            raise BadRecord("bad_index", f"{path} is not a table of pages: {error}") from error


def _file_answers(raw: _Ranges, reader: IndexReader) -> Iterator[Answer]:
    # what lies between two needed columns is read with them, up to 8 KB, as one range
    file = pq.ParquetFile(raw, pre_buffer=True)
    columns = [c for c in _COLUMNS if c not in _OPTIONAL or c in file.schema_arrow.names]
    key_column = file.schema_arrow.get_field_index(_KEY)
    if key_column < 0 or not _is_text(file.schema_arrow.field(key_column).type):
        raise KeyError(f"no column {_KEY} of text")
    for group in range(file.num_row_groups):
        low, high = _key_bounds(file, raw, group, key_column)
        by_surt = dict(by_key(reader.lookups.between(low, high)))
        if not by_surt:
            continue
        keys = file.read_row_group(group, columns=[_KEY]).column(_KEY)
        mask = pc.is_in(keys, value_set=pa.array(by_surt, keys.type))
        if not pc.any(mask).as_py():
            continue
        answers = {surt: Answer(lookups, [], []) for surt, lookups in by_surt.items()}
        for row in file.read_row_group(group, columns=columns).filter(mask).to_pylist():
            answer = answers[row[_KEY]]
            try:
                answer.entries.append(checked(_entry(row)))
            except BadLine as error:
                answer.faults.append(error)
        yield from (answer for answer in answers.values() if answer.entries or answer.faults)


def _key_bounds(
    file: pq.ParquetFile, raw: _Ranges, group: int, column: int
) -> tuple[str, str | None]:
    """The smallest and the largest key of a row group, as far as the footer gives them.

    Where the footer is damaged, `RowGroupMetaData.column` and `.statistics` end the process with a
    C++ exception. Reading makes the same checks and raises a Python exception, so a read is begun
    first, and stopped before it takes any bytes.
    """
    raw.is_withheld = True
    try:
        file.read_row_group(group, columns=[_KEY])
    except _ReadRefused:
        pass
    finally:
        raw.is_withheld = False
    chunk = file.metadata.row_group(group).column(column)
    if chunk.physical_type != file.schema.column(column).physical_type:
        raise pa.ArrowInvalid(f"row group {group} has keys of type {chunk.physical_type}")
    statistics = chunk.statistics
    if statistics is None or not statistics.has_min_max:
        return "", None
    return statistics.min, statistics.max


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _entry(row: dict[str, Any]) -> Entry:
    plain: dict[str, Any] = {field: row.get(column) for column, field in _COLUMNS.items()}
    for name in ("timestamp", "digest", "mime", "mime_detected", "truncated", "redirect"):
        plain[name] = plain[name] or ""
    if isinstance(plain["timestamp"], datetime):
        plain["timestamp"] = plain["timestamp"].strftime("%Y%m%d%H%M%S")
    plain["status"] = plain["status"] or 0
    return Entry(**plain)
