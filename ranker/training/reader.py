"""The examples of a split by number; row groups are read when they are needed, a few are kept."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.shards import RowGroup
from wikisum.ranker.training.flat_batch import TrainingBatch
from wikisum.ranker.training.plan import LANES, POOL_ROWS, Lengths

G = TypeVar("G")
B = TypeVar("B", bound=TrainingBatch)


class GroupReader(Generic[G, B]):
    """Base class of what training reads from: examples numbered over all row groups of a split.

    A subclass reads row groups, and makes batches of what `find` returns. The row groups used last
    are kept, as many as the lanes of a training run need. Worker processes receive the reader
    without them.
    """

    def __init__(self, groups: Sequence[RowGroup]) -> None:
        self.groups = groups
        self.set_rows([group.rows for group in groups])

    def set_rows(self, rows: Sequence[int] | Ints) -> None:
        """Set the number of examples of each row group, where it is not its number of rows."""
        self._rows = np.asarray(rows, dtype=np.int64)
        self._ends = np.cumsum(self._rows)
        self._max_rows = LANES * (POOL_ROWS + int(self._rows.max(initial=0)))
        self._cache: OrderedDict[int, G] = OrderedDict()
        self._cached_rows = 0

    def read(self, group: RowGroup) -> G:
        """Return a row group in the form that batches are made from."""
        raise NotImplementedError

    def batch(self, numbers: Ints) -> B:
        """Return the batch of these examples."""
        raise NotImplementedError

    def lengths_of(self, number: int) -> Lengths:
        """Return the lengths of the examples of a row group."""
        raise NotImplementedError

    def identity(self) -> list[Any]:
        """Return plain values that decide the lengths of the examples, besides the shards."""
        raise NotImplementedError

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": OrderedDict(), "_cached_rows": 0}

    def lengths(self) -> Lengths:
        """Return what a batch plan needs; takes one pass over the ids."""
        parts = zip(*(self.lengths_of(number) for number in range(len(self.groups))), strict=True)
        return Lengths(*map(np.concatenate, parts))

    def find(self, number: int) -> tuple[G, int]:
        """Return the row group that holds an example, and the example's index in it."""
        index = int(np.searchsorted(self._ends, number, side="right"))
        if index not in self._cache:
            self._cached_rows += int(self._rows[index])
            while self._cached_rows > self._max_rows:
                oldest, _ = self._cache.popitem(last=False)
                self._cached_rows -= int(self._rows[oldest])
            self._cache[index] = self.read(self.groups[index])
        self._cache.move_to_end(index)
        first = int(self._ends[index] - self._rows[index])
        return self._cache[index], number - first
