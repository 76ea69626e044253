"""Do two lists of names, however long, hold the same names equally often? In flat memory.

The names' 64-bit keys are written to files by ranges of keys; a range is then sorted and compared.
"""

import os
import tempfile
from array import array
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from wikisum.crawl.urls import url_key

KEYS_A_RANGE = 1 << 20
_BUFFER_KEYS = 1 << 12


class Unequal(NamedTuple):
    """A key that stands `left` times in the one list and `right` times in the other."""

    key: int
    left: int
    right: int


class Tally:
    """Counts of names on a left and on a right side, in files until the block is left.

    Memory is that of one range of about a million keys, for however many are `expected` a side.
    """

    def __init__(self, expected: int) -> None:
        self._ranges = 1 + expected // KEYS_A_RANGE
        self._buffers = [[array("Q") for _ in range(self._ranges)] for _ in "lr"]
        self._folder = tempfile.TemporaryDirectory(prefix="wikisum-tally-")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def left(self, name: str) -> None:
        self._add(0, url_key(name))

    def right(self, name: str) -> None:
        self._add(1, url_key(name))

    def _add(self, side: int, key: int) -> None:
        place = key * self._ranges >> 64
        buffer = self._buffers[side][place]
        buffer.append(key)
        if len(buffer) == _BUFFER_KEYS:
            self._flush(side, place)

    def _path(self, side: int, place: int) -> str:
        return os.path.join(self._folder.name, f"{side}-{place}")

    def _flush(self, side: int, place: int) -> None:
        with open(self._path(side, place), "ab") as file:
            self._buffers[side][place].tofile(file)
        self._buffers[side][place] = array("Q")

    def unequal(self) -> Iterator[Unequal]:
        """The keys whose counts differ, in rising order."""
        for place in range(self._ranges):
            keys, counts = zip(*(self._counted(side, place) for side in (0, 1)), strict=True)
            every = np.union1d(*keys)
            left, right = (_spread(every, k, c) for k, c in zip(keys, counts, strict=True))
            for at in np.flatnonzero(left != right):
                yield Unequal(int(every[at]), int(left[at]), int(right[at]))

    def _counted(
        self, side: int, place: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        self._flush(side, place)
        keys = np.fromfile(self._path(side, place), np.uint64)
        found, counts = np.unique(keys, return_counts=True)
        return found, counts.astype(np.int64)


def _spread(
    every: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The count of each of `every`, 0 where it is not among `keys`."""
    spread = np.zeros(len(every), np.int64)
    spread[np.searchsorted(every, keys)] = counts
    return spread
