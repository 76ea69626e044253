"""Do two lists of names, however long, hold the same names equally often? In constant memory.

The names' 64-bit keys are written to files by ranges of keys; a range is then sorted and compared.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
KEYS_PER_RANGE = 1 << 20
_HELD_KEYS = 1 << 22


class Unequal(NamedTuple):
    """A key that stands `left` times in the one list and `right` times in the other."""

    key: int
    left: int
    right: int


class Tally:
    """Counts of names on a left and on a right side, kept in files of a folder.

    Memory is that of a few million keys, however many names are `expected` per side.
    """

    def __init__(self, folder: str, expected: int) -> None:
        self._folder = folder
        self._ranges = 1 + expected // KEYS_PER_RANGE
        starts = [-(-(number << 64) // self._ranges) for number in range(self._ranges)]
        self._starts = np.array(starts, np.uint64)
        self._held: tuple[list[Keys], list[Keys]] = ([], [])
        self._held_count = 0

    def add(self, left: Keys, right: Keys) -> None:
        """Add the keys of names on either side."""
        for held, keys in zip(self._held, (left, right), strict=True):
            held.append(keys)
        self._held_count += len(left) + len(right)
        if self._held_count > _HELD_KEYS:
            self._flush()

    def _path(self, side: int, number: int) -> str:
        return os.path.join(self._folder, f"{side}-{number}")

    def _flush(self) -> None:
        for side, held in enumerate(self._held):
            keys = np.sort(np.concatenate([np.empty(0, np.uint64), *held]))
            parts = np.split(keys, np.searchsorted(keys, self._starts[1:]))
            for number, part in enumerate(parts):
                with open(self._path(side, number), "ab") as file:
                    part.tofile(file)
            held.clear()
        self._held_count = 0

    def unequal(self) -> Iterator[Unequal]:
        """The keys whose counts differ, in rising order."""
        self._flush()
        for number in range(self._ranges):
            keys, counts = zip(*(self._counted(side, number) for side in (0, 1)), strict=True)
            every = np.union1d(*keys)
            left, right = (_aligned(every, k, c) for k, c in zip(keys, counts, strict=True))
            for at in np.flatnonzero(left != right):
                yield Unequal(int(every[at]), int(left[at]), int(right[at]))

    def _counted(self, side: int, number: int) -> tuple[Keys, npt.NDArray[np.int64]]:
        keys = np.fromfile(self._path(side, number), np.uint64)
        found, counts = np.unique(keys, return_counts=True)
        return found, counts.astype(np.int64)


@contextmanager
def open_tally(expected: int) -> Iterator[Tally]:
    """A tally whose files are deleted when the block is left."""
    with tempfile.TemporaryDirectory(prefix="wikisum-tally-") as folder:
        yield Tally(folder, expected)


def _aligned(every: Keys, keys: Keys, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The count of each of `every`, 0 where it is not among `keys`."""
    aligned = np.zeros(len(every), np.int64)
    aligned[np.searchsorted(every, keys)] = counts
    return aligned
