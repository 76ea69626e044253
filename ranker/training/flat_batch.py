"""A batch as few tensors, sent to another process or to a GPU in one transfer.

Each tensor that changes processes costs a file and a connection, however small it is: sending the
twenty of a batch took ten times as long as making them.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor


class TrainingBatch(Protocol):
    """What training needs to know of a batch, whatever it holds."""

    @property
    def source_tokens(self) -> int:
        """The number of real tokens that are read."""

    @property
    def labels(self) -> int:
        """The number of labels that are predicted."""

    def describe(self) -> str:
        """Return the size of the batch in words, for messages."""

    def tensors(self) -> list[Tensor]:
        """Return all tensors as a list, which `of` turns back into a batch."""

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> Self:
        """Return the batch with these tensors."""

    def to(self, device: torch.device) -> Self:
        """Return a copy on a device."""


class FlatBatch(NamedTuple):
    """The tensors of a batch, concatenated by type, with the shapes to split them again."""

    kind: type[TrainingBatch]
    flat: tuple[Tensor, ...]
    shapes: list[tuple[int, ...]]  # in the order of the batch's tensors
    types: list[int]  # of each tensor: which of `flat` it is in

    def pin_memory(self) -> "FlatBatch":
        """Return a copy in pinned memory, from which a GPU copies without waiting."""
        return self._replace(flat=tuple(t.pin_memory() for t in self.flat))

    def unflatten(self) -> TrainingBatch:
        """Return the batch; its tensors are views of the flat ones."""
        ends = [0] * len(self.flat)
        tensors = []
        for shape, number in zip(self.shapes, self.types, strict=True):
            size = int(torch.Size(shape).numel())
            start, ends[number] = ends[number], ends[number] + size
            tensors.append(self.flat[number][start : ends[number]].view(shape))
        return self.kind.of(tensors)


def flatten_batch(batch: TrainingBatch) -> FlatBatch:
    """Return the batch as flat tensors."""
    tensors = batch.tensors()
    kinds = list(dict.fromkeys(t.dtype for t in tensors))
    flat = tuple(torch.cat([t.flatten() for t in tensors if t.dtype == kind]) for kind in kinds)
    types = [kinds.index(t.dtype) for t in tensors]
    return FlatBatch(type(batch), flat, [tuple(t.shape) for t in tensors], types)
