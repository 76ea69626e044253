"""Which examples train together, and in what order: a pure function of lengths and a seed.

Row groups are shuffled and dealt to lanes; a lane reads a pool of row groups at a time, shuffles
its examples, sorts them by length and cuts them into batches of at most so many tokens. The order
of all batches takes the next one of each lane in turn. Where the lanes divide among processes and
their workers, each reads only its own row groups; the order is the same for any number of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from wikisum.ranker.data.ragged import Ints

T = TypeVar("T")
LANES = 8
POOL_ROWS = 1_024


class Lengths(NamedTuple):
    """[E] tokens of each example's source and target; examples stand in the order of row groups."""

    source: Ints
    target: Ints
    group_rows: Ints


class Cursor(NamedTuple):
    """The next batch of training."""

    epoch: int = 0
    batch: int = 0


def pools_of(group_rows: Sequence[int], seed: int, epoch: int) -> list[list[list[int]]]:
    """For each lane its pools, each a list of row groups; every row group comes once."""
    order = np.random.default_rng([seed, epoch]).permutation(len(group_rows)).tolist()
    lanes: list[list[list[int]]] = [[] for _ in range(min(LANES, len(group_rows)))]
    rows = [0] * len(lanes)
    filled = [POOL_ROWS] * len(lanes)
    for group in order:
        lane = rows.index(min(rows))
        if filled[lane] >= POOL_ROWS:
            lanes[lane].append([])
            filled[lane] = 0
        lanes[lane][-1].append(group)
        rows[lane] += group_rows[group]
        filled[lane] += group_rows[group]
    return lanes


def token_batches(lengths: Ints, batch_tokens: int) -> list[Ints]:
    """Indexes cut in their order: a batch's size times its longest is at most `batch_tokens`.

    One that is longer is a batch alone.
    """
    found, start, longest = [], 0, 0
    for end, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        if end > start and (end - start + 1) * longest > batch_tokens:
            found.append(np.arange(start, end))
            start, longest = end, length
    return [*found, np.arange(start, len(lengths))] if len(lengths) else []


def length_batches(lengths: Ints, batch_tokens: int) -> list[Ints]:
    """Return the indexes of all lengths, each once, by rising length, cut as `token_batches`."""
    order = lengths.argsort(kind="stable")
    return [order[cut] for cut in token_batches(np.maximum(lengths[order], 1), batch_tokens)]


def in_length_batches(
    lengths: Ints, batch_tokens: int, work: Callable[[Ints], Iterable[T]]
) -> list[T]:
    """Return the results of all items, which `work` gives for batches of similar length."""
    results: dict[int, T] = {}
    for indexes in length_batches(lengths, batch_tokens):
        results |= zip(indexes.tolist(), work(indexes), strict=True)
    return [results[index] for index in range(len(lengths))]


def _by_length(lengths: Lengths, examples: Ints, batch_tokens: int) -> list[Ints]:
    """The examples sorted by their lengths and cut; neither side of a batch is over the budget."""
    source, target = lengths.source[examples], lengths.target[examples]
    order = np.lexsort((target, source))
    cut = token_batches(np.maximum(source, target)[order], batch_tokens)
    return [examples[order[batch]] for batch in cut]


def _examples_of(lengths: Lengths, groups: Sequence[int]) -> Ints:
    ends = np.cumsum(lengths.group_rows)
    starts = ends - lengths.group_rows
    return np.concatenate([np.arange(starts[g], ends[g]) for g in groups])


def epoch_batches(lengths: Lengths, batch_tokens: int, seed: int, epoch: int) -> Iterator[Ints]:
    """Yield the batches of an epoch in order, as indexes of examples; every example comes once.

    A pool is planned when its first batch is asked for.
    """

    def lane_batches(lane: int, pools: Sequence[Sequence[int]]) -> Iterator[Ints]:
        for number, pool in enumerate(pools):
            source = np.random.default_rng([seed, epoch, lane, number])
            shuffled = source.permutation(_examples_of(lengths, pool))
            cut = _by_length(lengths, shuffled, batch_tokens)
            yield from (cut[i] for i in source.permutation(len(cut)))

    pools = pools_of(lengths.group_rows.tolist(), seed, epoch)
    lanes = [lane_batches(*item) for item in enumerate(pools)]
    while lanes:
        turn = [(lane, batch) for lane in lanes if (batch := next(lane, None)) is not None]
        yield from (batch for _, batch in turn)
        lanes = [lane for lane, _ in turn]


def sequential_batches(lengths: Lengths, batch_tokens: int) -> list[Ints]:
    """Every example once, row group after row group, for a pass whose order does not matter."""
    ends = np.cumsum(lengths.group_rows)
    pools = np.split(np.arange(len(ends)), np.flatnonzero(np.diff(ends // POOL_ROWS)) + 1)
    found = []
    for pool in pools:
        found += _by_length(lengths, _examples_of(lengths, pool.tolist()), batch_tokens)
    return found


def batches_from(
    lengths: Lengths, batch_tokens: int, seed: int, start: Cursor
) -> Iterator[tuple[Cursor, Ints]]:
    """Batches without end from `start` on, each with the cursor after it."""
    epoch, first = start
    while True:
        batches = enumerate(epoch_batches(lengths, batch_tokens, seed, epoch), 1)
        for number, batch in islice(batches, first, None):
            yield Cursor(epoch, number), batch
        epoch, first = epoch + 1, 0
