"""Parquet shards -> batches of paragraphs of similar length."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from wikisum.ranker.data.ragged import Ints, Ragged, concatenated, cut, from_arrow, gathered, padded
from wikisum.ranker.data.shards import RowGroup, read_group
from wikisum.ranker.learned.settings import TokenLimits
from wikisum.ranker.training.plan import Lengths
from wikisum.ranker.training.reader import GroupReader

Floats = npt.NDArray[np.float32]


class Pool(NamedTuple):
    """Articles in memory; `article` is the row of each paragraph's title."""

    titles: Ragged
    paragraphs: Ragged
    article: Ints
    labels: Floats


class ParagraphBatch(NamedTuple):
    """Paragraphs of similar length, padded at the end, with their titles.

    `titles` [A, T], `title_lengths` [A], `article` [N] (rows of `titles`), `paragraphs` [N, T],
    `lengths` [N], `label_N`.
    """

    titles: Tensor
    title_lengths: Tensor
    article: Tensor
    paragraphs: Tensor
    lengths: Tensor
    label_N: Tensor

    @property
    def source_tokens(self) -> int:
        """The number of subwords of the paragraphs, with their padding."""
        return self.paragraphs.numel()

    @property
    def labels(self) -> int:
        """The number of paragraphs."""
        return len(self.label_N)

    def describe(self) -> str:
        return f"{self.labels} paragraphs of up to {self.paragraphs.shape[1]} subwords"

    def tensors(self) -> list[Tensor]:
        return list(self)

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> "ParagraphBatch":
        return cls(*tensors)

    def to(self, device: torch.device) -> "ParagraphBatch":
        return self.of([tensor.to(device, non_blocking=True) for tensor in self])


class ParagraphReader(GroupReader[Pool, ParagraphBatch]):
    """The paragraphs of a split by number, with their titles and labels.

    Raises ValueError naming the shard if it has no subword ids, or another schema.
    """

    def __init__(
        self, groups: Sequence[RowGroup], limits: TokenLimits, vocab_size: int | None = None
    ) -> None:
        super().__init__(groups)
        self._limits, self._vocab_size = limits, vocab_size

    def identity(self) -> list[Any]:
        """Return plain values that decide the lengths of the paragraphs, besides the shards."""
        return ["ranker", self._limits.paragraph]

    def read(self, group: RowGroup) -> Pool:
        """Return a row group's titles, paragraphs and labels, cut to what the limits allow."""
        return read_pool([group], self._limits, self._vocab_size)

    def lengths_of(self, number: int) -> Lengths:
        """Return the lengths of the paragraphs of a row group; their targets are single labels."""
        lengths = self.read(self.groups[number]).paragraphs.lengths
        return Lengths(lengths, np.ones_like(lengths), np.array([len(lengths)]))

    def batch(self, numbers: Ints) -> ParagraphBatch:
        """Return the batch of these paragraphs."""
        rows_by_pool: dict[int, tuple[Pool, list[int]]] = {}
        for number in numbers.tolist():
            pool, row = self.find(number)
            rows_by_pool.setdefault(id(pool), (pool, []))[1].append(row)
        parts = [_select(pool, np.array(rows)) for pool, rows in rows_by_pool.values()]
        return collate(_joined(parts), np.arange(len(numbers)))


def read_pool(
    groups: Sequence[RowGroup], limits: TokenLimits, vocab_size: int | None = None
) -> Pool:
    """Return the titles, paragraphs and labels of some row groups, cut to what `limits` allows.

    Raises ValueError naming the shard if it has no subword ids, another schema, or ids from
    `vocab_size` on.
    """
    pool = _joined([_read_group(group, vocab_size) for group in groups])
    return pool._replace(
        titles=cut(pool.titles, limits.title), paragraphs=cut(pool.paragraphs, limits.paragraph)
    )


def _joined(parts: Sequence[Pool]) -> Pool:
    """Return the articles of all parts, one part after the other."""
    before = np.cumsum([0, *(len(part.titles.starts) for part in parts[:-1])])
    article = [part.article + count for part, count in zip(parts, before, strict=True)]
    return Pool(
        concatenated([part.titles for part in parts]),
        concatenated([part.paragraphs for part in parts]),
        np.concatenate(article),
        np.concatenate([part.labels for part in parts]),
    )


def _select(pool: Pool, rows: Ints) -> Pool:
    """Return some paragraphs of a pool, with their titles only."""
    articles, article = np.unique(pool.article[rows], return_inverse=True)
    titles, paragraphs = gathered(pool.titles, articles), gathered(pool.paragraphs, rows)
    return Pool(titles, paragraphs, article, pool.labels[rows])


def _read_group(group: RowGroup, vocab_size: int | None) -> Pool:
    columns = ["title_ids", "paragraph_ids", "paragraphs.rouge2_recall"]
    table = read_group(group, columns, vocab_size)
    titles, paragraphs, scored = (
        table.column(name).chunk(0) for name in ("title_ids", "paragraph_ids", "paragraphs")
    )
    if titles.null_count or paragraphs.null_count:
        raise ValueError(f"{group.shard} has no subword ids: run `wikisum tokenize` first")
    counts = np.asarray(paragraphs.value_lengths(), dtype=np.int64)
    article = np.repeat(np.arange(len(counts)), counts)
    labels = np.asarray(scored.flatten().field("rouge2_recall"), dtype=np.float32)
    return Pool(from_arrow(titles), from_arrow(paragraphs.flatten()), article, labels)


def collate(pool: Pool, rows: Ints) -> ParagraphBatch:
    """Return the batch of these paragraphs of a pool, each title in it once."""
    articles, article = np.unique(pool.article[rows], return_inverse=True)
    arrays = *padded(pool.titles, articles), article, *padded(pool.paragraphs, rows)
    return ParagraphBatch.of([torch.from_numpy(a) for a in (*arrays, pool.labels[rows])])
