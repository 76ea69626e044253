"""The smallest data that a training loop takes: points, to fit a line through the origin."""

from typing import NamedTuple, Self

import numpy as np
import torch
from pyarrow import fs
from torch import Tensor

from wikisum.ranker.data.shards import RowGroup, Shard
from wikisum.ranker.training.plan import Lengths
from wikisum.ranker.training.reader import GroupReader


class Points(NamedTuple):
    """A batch of points, each of which counts as one label."""

    number_B: Tensor
    x_B: Tensor
    y_B: Tensor

    @property
    def source_tokens(self) -> int:
        return len(self.x_B)

    @property
    def labels(self) -> int:
        return len(self.y_B)

    def describe(self) -> str:
        return f"{len(self.x_B)} points"

    def tensors(self) -> list[Tensor]:
        return list(self)

    @classmethod
    def of(cls, tensors: list[Tensor]) -> Self:
        return cls(*tensors)

    def to(self, device: torch.device) -> Self:
        return type(self)(*(tensor.to(device) for tensor in self))


class PointReader(GroupReader[np.ndarray, Points]):
    """Points (1, 2), (2, 4), ... in row groups of these sizes; `reads` lists what is read."""

    def __init__(self, *sizes: int) -> None:
        shard = Shard(fs.LocalFileSystem(), "points")
        super().__init__([RowGroup(shard, i, size) for i, size in enumerate(sizes)])
        self.reads: list[int] = []

    def read(self, group: RowGroup) -> np.ndarray:
        self.reads.append(group.number)
        return 1.0 + np.arange(self._ends[group.number] - group.rows, self._ends[group.number])

    def batch(self, numbers: np.ndarray) -> Points:
        found = [self.find(int(number)) for number in numbers]
        x_B = torch.tensor([float(group[index]) for group, index in found])
        return Points(torch.tensor(numbers), x_B, 2 * x_B)

    def lengths_of(self, number: int) -> Lengths:
        ones = np.ones(self.groups[number].rows, np.int64)
        return Lengths(ones, ones, np.array([len(ones)]))

    def identity(self) -> list[str]:
        return ["points"]
