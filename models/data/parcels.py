"""A batch as few tensors, to go from one process to another or to a GPU at one go.

Each tensor that changes processes costs a file and a connection, however small it is: the twenty of
a batch took ten times as long as making them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from wikisum.models.data.batches import Batch
from wikisum.models.network.packing import Source

_OWN = len(Batch._fields) - 1  # tensors of a batch besides its source's


class Parcel(NamedTuple):
    """All tensors of one type laid flat, one after the other; the shapes tell them apart."""

    flat: tuple[Tensor, ...]
    shapes: list[tuple[int, ...]]  # in the order of the batch's tensors
    types: list[int]  # of each tensor: which of `flat` it is in

    def pin_memory(self) -> "Parcel":
        """The same in memory that a GPU copies from without waiting."""
        return self._replace(flat=tuple(t.pin_memory() for t in self.flat))

    def opened(self) -> Batch:
        """The batch; its tensors share the parcel's memory."""
        ends = [0] * len(self.flat)
        tensors = []
        for shape, number in zip(self.shapes, self.types, strict=True):
            size = int(torch.Size(shape).numel())
            start, ends[number] = ends[number], ends[number] + size
            tensors.append(self.flat[number][start : ends[number]].view(shape))
        return Batch(Source.of(tensors[_OWN:]), *tensors[:_OWN])


def parcel(batch: Batch) -> Parcel:
    """The batch, ready to be sent."""
    tensors: Sequence[Tensor] = [*batch[1:], *batch.source.tensors()]
    kinds = list(dict.fromkeys(t.dtype for t in tensors))
    flat = tuple(torch.cat([t.flatten() for t in tensors if t.dtype == kind]) for kind in kinds)
    return Parcel(flat, [tuple(t.shape) for t in tensors], [kinds.index(t.dtype) for t in tensors])
