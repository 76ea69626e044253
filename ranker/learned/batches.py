"""Parquet shards -> batches of paragraphs of like length, in an order that a seed decides.

Memory holds one pool of articles at a time, as flat arrays of ids. Knows no torch.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wikisum.ranker.data.ragged import (
    Ints,
    Ragged,
    concatenated,
    cut,
    from_arrow,
    length_batches,
    padded,
)
from wikisum.ranker.data.shards import RowGroup, read_group
from wikisum.ranker.learned.settings import TokenLimits

Floats = npt.NDArray[np.float32]
T = TypeVar("T")


class Pool(NamedTuple):
    """Articles in memory; `article` says which title each paragraph goes with."""

    titles: Ragged
    paragraphs: Ragged
    article: Ints
    labels: Floats


class ParagraphBatch(NamedTuple):
    """Paragraphs of like length, padded at the end, with the titles that they go with.

    `titles` [A, T], `title_lengths` [A], `article` [N] (rows of `titles`), `paragraphs` [N, T],
    `lengths` [N], `labels` [N].
    """

    titles: Ints
    title_lengths: Ints
    article: Ints
    paragraphs: Ints
    lengths: Ints
    labels: Floats


class PoolCursor(NamedTuple):
    """The next batch of training."""

    epoch: int = 0
    pool: int = 0
    batch: int = 0


def pools(
    groups: Sequence[RowGroup], pool_articles: int, seed: int, epoch: int
) -> list[list[RowGroup]]:
    """The row groups shuffled, in runs of at least `pool_articles` rows (but for the last)."""
    order = np.random.default_rng([seed, epoch]).permutation(len(groups))
    found: list[list[RowGroup]] = []
    rows = pool_articles
    for group in (groups[i] for i in order):
        if rows >= pool_articles:
            found.append([])
            rows = 0
        found[-1].append(group)
        rows += group.rows
    return found


def read_pool(groups: Sequence[RowGroup], lengths: TokenLimits) -> Pool:
    """Return the titles, paragraphs and labels of some row groups, cut to what `lengths` allows.

    Raises ValueError naming the shard if it has no subword ids, or another schema.
    """
    parts = [_read_group(group) for group in groups]
    before = np.cumsum([0, *(len(part.titles.starts) for part in parts[:-1])])
    article = [part.article + count for part, count in zip(parts, before, strict=True)]
    return Pool(
        cut(concatenated([part.titles for part in parts]), lengths.title),
        cut(concatenated([part.paragraphs for part in parts]), lengths.paragraph),
        np.concatenate(article),
        np.concatenate([part.labels for part in parts]),
    )


def _read_group(group: RowGroup) -> Pool:
    table = read_group(group, ["title_ids", "paragraph_ids", "paragraphs.rouge2_recall"])
    titles, paragraphs, scored = (
        _whole(table.column(name)) for name in ("title_ids", "paragraph_ids", "paragraphs")
    )
    if titles.null_count or paragraphs.null_count:
        raise ValueError(f"{group.shard} has no subword ids: run `wikisum tokenize` first")
    counts = np.asarray(paragraphs.value_lengths(), dtype=np.int64)
    if not np.array_equal(counts, np.asarray(scored.value_lengths())):
        raise ValueError(f"{group.shard}: paragraph_ids and paragraphs differ in number")
    article = np.repeat(np.arange(len(counts)), counts)
    labels = np.asarray(scored.flatten().field("rouge2_recall"), dtype=np.float32)
    return Pool(from_arrow(titles), from_arrow(paragraphs.flatten()), article, labels)


def _whole(column: pa.ChunkedArray) -> pa.ListArray:
    """Return the one chunk of a column of a combined table."""
    return column.chunk(0)


def plan(lengths: Ints, batch_tokens: int, key: Sequence[int]) -> list[Ints]:
    """Return the batches of a pool in training order: a function of its lengths and `key` alone."""
    source = np.random.default_rng(key)
    shuffled = source.permutation(len(lengths))
    batches = length_batches(lengths[shuffled], batch_tokens)
    return [shuffled[batches[i]] for i in source.permutation(len(batches))]


def collate(pool: Pool, rows: Ints) -> ParagraphBatch:
    """Return the batch of these paragraphs of a pool, each title in it once."""
    articles, article = np.unique(pool.article[rows], return_inverse=True)
    return ParagraphBatch(
        *padded(pool.titles, articles), article, *padded(pool.paragraphs, rows), pool.labels[rows]
    )


def training_batches(
    groups: Sequence[RowGroup],
    lengths: TokenLimits,
    pool_articles: int,
    seed: int,
    start: PoolCursor,
) -> Iterator[tuple[ParagraphBatch, PoolCursor]]:
    """Batches without end from `start` on, each with the cursor after it.

    Every paragraph comes once an epoch. Raises ValueError if there is none at all.
    """
    place = start
    while True:
        runs = pools(groups, pool_articles, seed, place.epoch)
        is_empty = True
        for index in range(place.pool, len(runs)):
            pool = read_pool(runs[index], lengths)
            batches = plan(pool.paragraphs.lengths, lengths.batch, [seed, place.epoch, index])
            is_empty = is_empty and not batches
            for number in range(place.batch, len(batches)):
                yield collate(pool, batches[number]), PoolCursor(place.epoch, index, number + 1)
            place = PoolCursor(place.epoch, index + 1)
        if is_empty and place.epoch > start.epoch:
            raise ValueError("the training shards hold no paragraph")
        place = PoolCursor(place.epoch + 1)


def ahead(items: Iterator[T], count: int) -> Iterator[T]:
    """Yield the items, `count` of them made in advance by a thread."""
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, items, None) for _ in range(count))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(thread.submit(next, items, None))
            yield item
