"""Do two lists of names, however long, hold the same names equally often? In constant memory.

The names' 64-bit keys are written to files by ranges of keys; a range is then sorted and compared.
"""

import os
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wikisum.crawl.urls import url_key

KEYS_PER_RANGE = 1 << 20
_BUFFER_KEYS = 1 << 12


class Unequal(NamedTuple):
    """A key that stands `left` times in the one list and `right` times in the other."""

    key: int
    left: int
    right: int


class Tally:
    """Counts of names on a left and on a right side, kept in files of a folder.

    Memory is that of one range of about a million keys, however many names are `expected` per side.
    """

    def __init__(self, folder: str, expected: int) -> None:
        self._folder = folder
        self._ranges = 1 + expected // KEYS_PER_RANGE
        self._buffers = [[array("Q") for _ in range(self._ranges)] for _ in "lr"]

    def add_left(self, name: str) -> None:
        self._add(0, url_key(name))

    def add_right(self, name: str) -> None:
        self._add(1, url_key(name))

    def _add(self, side: int, key: int) -> None:
        number = key * self._ranges >> 64
        buffer = self._buffers[side][number]
        buffer.append(key)
        if len(buffer) == _BUFFER_KEYS:
            self._flush(side, number)

    def _path(self, side: int, number: int) -> str:
        return os.path.join(self._folder, f"{side}-{number}")

    def _flush(self, side: int, number: int) -> None:
        with open(self._path(side, number), "ab") as file:
            self._buffers[side][number].tofile(file)
        self._buffers[side][number] = array("Q")

    def unequal(self) -> Iterator[Unequal]:
        """The keys whose counts differ, in rising order."""
        for number in range(self._ranges):
            keys, counts = zip(*(self._counted(side, number) for side in (0, 1)), strict=True)
            every = np.union1d(*keys)
            left, right = (_aligned(every, k, c) for k, c in zip(keys, counts, strict=True))
            for at in np.flatnonzero(left != right):
                yield Unequal(int(every[at]), int(left[at]), int(right[at]))

    def _counted(
        self, side: int, number: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        self._flush(side, number)
        keys = np.fromfile(self._path(side, number), np.uint64)
        found, counts = np.unique(keys, return_counts=True)
        return found, counts.astype(np.int64)


@contextmanager
def open_tally(expected: int) -> Iterator[Tally]:
    """A tally whose files are deleted when the block is left."""
    with tempfile.TemporaryDirectory(prefix="wikisum-tally-") as folder:
        yield Tally(folder, expected)


def _aligned(
    every: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The count of each of `every`, 0 where it is not among `keys`."""
    aligned = np.zeros(len(every), np.int64)
    aligned[np.searchsorted(every, keys)] = counts
    return aligned
