"""What a previous run fetched of a shard of captures: documents, and failures to keep."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow.parquet as pq

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter
from wikisum.pipeline.engine.retry import PreviousRun
from wikisum.pipeline.engine.shards import read_records, read_tables
from wikisum.pipeline.records import Capture, Document, Dropped

Key = tuple[str | None, str | None, int | None]


class Fetched(NamedTuple):
    """The number of paragraphs of a fetched record by fate, as JSON; no other file has it."""

    url: str
    warc_file: str
    offset: int
    paragraphs: str


class FetchedBefore:
    """Results by capture. Documents are read on demand, a row group at a time."""

    def __init__(self, previous: PreviousRun | None, part: PartWriter) -> None:
        """`part` is the part that is being written now, under the same paths."""
        self._documents = previous.path(part.path(Document)) if previous else None
        self._position_by_key: dict[Key, tuple[int, int]] = {}
        self._dropped_by_key: dict[Key, Dropped] = {}
        self._paragraphs_by_key: dict[Key, dict[str, int]] = {}
        self._group: tuple[int, list[Document]] = (-1, [])
        if previous is None:
            return
        if self._documents:
            for place, key in _positions(self._documents):
                self._position_by_key[key] = place
        if path := previous.path(part.path(Dropped)):
            for row in read_records(Dropped, path):
                if row.reason not in previous.reasons:
                    self._dropped_by_key[row.url, row.file, row.offset] = row
        if path := previous.path(part.path(Fetched)):
            for fetched in read_records(Fetched, path):
                key = fetched.url, fetched.warc_file, fetched.offset
                self._paragraphs_by_key[key] = json.loads(fetched.paragraphs)

    def has(self, capture: Capture) -> bool:
        """Whether the capture need not be fetched."""
        key = _key(capture)
        return key in self._position_by_key or key in self._dropped_by_key

    def outcome(self, capture: Capture) -> tuple[Document | Dropped, dict[str, int]]:
        """The result of a capture, and the fates of its paragraphs. Raises KeyError without one."""
        key = _key(capture)
        paragraphs = self._paragraphs_by_key.get(key, {})
        if key in self._dropped_by_key:
            return self._dropped_by_key[key], paragraphs
        group, row = self._position_by_key[key]
        if self._group[0] != group and self._documents:
            with files.open_input(self._documents) as raw:
                rows = pq.ParquetFile(raw).read_row_group(group).to_pylist()
            self._group = group, [Document(**r) for r in rows]
        return self._group[1][row], paragraphs


def _key(capture: Capture) -> Key:
    return capture.url, capture.warc_file, capture.offset


def _positions(path: str) -> Iterator[tuple[tuple[int, int], Key]]:
    """((row group, row), the key) of each document of a shard."""
    for group, table in enumerate(read_tables(path, ["url", "warc_file", "offset"])):
        for number, row in enumerate(table.to_pylist()):
            yield (group, number), (row["url"], row["warc_file"], row["offset"])
