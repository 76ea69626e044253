"""Files of packed records by ranges: written in bounded memory, read one range at a time.

A file is a series of segments. A segment has, for each name of records, the blocks of all ranges
one after the other, and then the offset of each block, so that a reader finds one range with two
short reads. The file ends with a list of the segments and the length of that list.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import numpy as np

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.packed import pack, unpack

_RECORD_BYTES = 150  # what a record costs beside its data while it is held
_LENGTH = struct.Struct("<Q")
_OFFSET_BYTES = 8


class _Segment(NamedTuple):
    """Where the offsets of the blocks of a name stand: one for each range and one for the end."""

    name: str
    offsets_at: int


class SpillWriter:
    """Collects records by name and range; writes a segment when it holds `held_bytes`.

    `range_counts` has the number of ranges of each name.
    """

    def __init__(
        self, file: files.AtomicFile, range_counts: Mapping[str, int], held_bytes: int
    ) -> None:
        self._file = file
        self._range_counts = range_counts
        self._max_held_bytes = held_bytes
        self._segments: list[_Segment] = []
        self._clear()

    def _clear(self) -> None:
        self._held: dict[str, dict[int, list[bytes]]] = defaultdict(lambda: defaultdict(list))
        self._held_bytes = 0

    def add(self, name: str, index: int, record: object) -> None:
        """Add a record to the range `index` of its name."""
        data = pack(record)
        self._held[name][index].append(data)
        self._held_bytes += len(data) + _RECORD_BYTES
        if self._held_bytes > self._max_held_bytes:
            self._flush()

    def _flush(self) -> None:
        for name in sorted(self._held):
            blocks, offsets = self._held[name], [self._file.tell()]
            for index in range(self._range_counts[name]):
                if records := blocks.pop(index, None):
                    self._file.write(pack(records))
                offsets.append(self._file.tell())
            self._segments.append(_Segment(name, self._file.tell()))
            self._file.write(np.array(offsets, "<u8").tobytes())
        self._clear()

    def close(self) -> None:
        """Write what is held and the list of the segments."""
        self._flush()
        listed = pack(self._segments)
        self._file.write(listed)
        self._file.write(_LENGTH.pack(len(listed)))


@contextmanager
def open_spill(
    path: str, range_counts: Mapping[str, int], held_bytes: int
) -> Iterator[SpillWriter]:
    """Open a file for writing; it has its name once the block is left without an error."""
    with files.AtomicFile(path) as file:
        writer = SpillWriter(file, range_counts, held_bytes)
        yield writer
        writer.close()


def read_range(paths: Iterable[str], name: str, index: int) -> Iterator[bytes]:
    """Yield the packed records of a name and a range in files, in the order of the files."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            for segment in _segments(file):
                if segment.name == name:
                    data = _read_at(file, segment.offsets_at + _OFFSET_BYTES * index, 16)
                    start, end = np.frombuffer(data, "<u8").tolist()
                    if start != end:
                        yield from unpack(_read_at(file, start, end - start), list[bytes])


def _segments(file: BinaryIO) -> list[_Segment]:
    end = file.seek(0, 2) - _LENGTH.size
    (length,) = _LENGTH.unpack(_read_at(file, end, _LENGTH.size))
    return unpack(_read_at(file, end - length, length), list[_Segment])


def _read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    """The bytes at an offset; a single read may return fewer (Linux stops at 2 GiB)."""
    file.seek(offset)
    data = file.read(length)
    while len(data) < length:
        more = file.read(length - len(data))
        if not more:
            raise EOFError(f"{file.name} ends before byte {offset + length}")
        data += more
    return data
