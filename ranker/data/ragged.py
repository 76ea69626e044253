"""Lists of subword ids in one flat array, as in Arrow; cut, concatenated and padded with numpy."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wikisum.ranker.data.vocab import PAD

Ints = npt.NDArray[np.int64]


class Ragged(NamedTuple):
    """List i is `ids[starts[i] : starts[i] + lengths[i]]`; lists may leave gaps between them."""

    ids: npt.NDArray[np.integer[Any]]
    starts: Ints
    lengths: Ints


def ragged(lists: Sequence[Sequence[int]]) -> Ragged:
    """Return the lists in one flat array."""
    lengths = np.array([len(ids) for ids in lists], dtype=np.int64)
    ids = np.fromiter((i for one in lists for i in one), np.uint16, int(lengths.sum()))
    return Ragged(ids, np.cumsum(lengths) - lengths, lengths)


def concatenated_ids(lists: Sequence[npt.NDArray[np.integer[Any]]]) -> Ragged:
    """Return arrays of ids as lists of one flat array."""
    lengths = np.array([len(ids) for ids in lists], dtype=np.int64)
    ids = np.concatenate(lists) if len(lists) else np.zeros(0, np.int32)
    return Ragged(ids, np.cumsum(lengths) - lengths, lengths)


def from_arrow(lists: pa.ListArray) -> Ragged:
    """Return an Arrow column of lists of ids, none null; the ids are not copied."""
    lengths = np.asarray(lists.value_lengths(), dtype=np.int64)
    return Ragged(np.asarray(lists.flatten()), np.cumsum(lengths) - lengths, lengths)


def concatenated(parts: Sequence[Ragged]) -> Ragged:
    """Return the lists of all parts in their order."""
    before = np.cumsum([0, *(len(part.ids) for part in parts[:-1])])
    return Ragged(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.starts + n for part, n in zip(parts, before, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
    )


def cut(lists: Ragged, max_length: int) -> Ragged:
    """Return the first `max_length` ids of each list."""
    return lists._replace(lengths=np.minimum(lists.lengths, max_length))


def gathered(lists: Ragged, rows: Ints) -> Ragged:
    """Return some of the lists in the given order, their ids copied without gaps."""
    lengths = lists.lengths[rows]
    starts = np.cumsum(lengths) - lengths
    indexes = np.arange(lengths.sum()) + np.repeat(lists.starts[rows] - starts, lengths)
    return Ragged(lists.ids[indexes], starts, lengths)


def padded(lists: Ragged, rows: Ints) -> tuple[Ints, Ints]:
    """Return the ids of the rows, padded at the end, [N, T], and lengths [N]; T is at least 1."""
    lengths = lists.lengths[rows]
    offsets = np.arange(max(int(lengths.max(initial=1)), 1))
    is_real = offsets < lengths[:, None]
    ids = np.full(is_real.shape, PAD, dtype=np.int64)
    ids[is_real] = lists.ids[(lists.starts[rows][:, None] + offsets)[is_real]]
    return ids, lengths
