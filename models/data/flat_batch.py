"""A batch as few tensors, sent to another process or to a GPU in one transfer.

Each tensor that changes processes costs a file and a connection, however small it is: sending the
twenty of a batch took ten times as long as making them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from wikisum.models.network.packing import Batch, Source

_OWN = len(Batch._fields) - 1  # tensors of a batch besides its source's


class FlatBatch(NamedTuple):
    """The tensors of a batch, concatenated by type, with the shapes to split them again."""

    flat: tuple[Tensor, ...]
    shapes: list[tuple[int, ...]]  # in the order of the batch's tensors
    types: list[int]  # of each tensor: which of `flat` it is in

    def pin_memory(self) -> "FlatBatch":
        """Return a copy in pinned memory, from which a GPU copies without waiting."""
        return self._replace(flat=tuple(t.pin_memory() for t in self.flat))

    def unflatten(self) -> Batch:
        """Return the batch; its tensors are views of the flat ones."""
        ends = [0] * len(self.flat)
        tensors = []
        for shape, number in zip(self.shapes, self.types, strict=True):
            size = int(torch.Size(shape).numel())
            start, ends[number] = ends[number], ends[number] + size
            tensors.append(self.flat[number][start : ends[number]].view(shape))
        return Batch(Source.of(tensors[_OWN:]), *tensors[:_OWN])


def flatten_batch(batch: Batch) -> FlatBatch:
    """Return the batch as flat tensors."""
    tensors: Sequence[Tensor] = [*batch[1:], *batch.source.tensors()]
    kinds = list(dict.fromkeys(t.dtype for t in tensors))
    flat = tuple(torch.cat([t.flatten() for t in tensors if t.dtype == kind]) for kind in kinds)
    return FlatBatch(
        flat, [tuple(t.shape) for t in tensors], [kinds.index(t.dtype) for t in tensors]
    )
