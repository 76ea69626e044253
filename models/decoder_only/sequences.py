"""Source and target as one sequence (Liu et al. 2018, section 4.2.3), and its padded forms.

Letters: N tokens of all examples, B examples, S tokens of the longest example, C blocks of all
examples, b tokens of a block, F compression factor, R rows of compressed memory.
Work on single tokens is done on [N, width] without padding. Attention and convolution see padded
forms; a slot is the index of a token in such a form laid flat.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from wikisum.ranker.data.vocab import BEGIN, END, PAD

SEPARATOR = BEGIN  # between source and target


class Sequences(NamedTuple):
    """The input and labels of B examples; ids are int64, masks bool.

    An example's input is a padding id (embedded as zeros, so that the first source token can be
    predicted), the source, the separator and the target. A label is the token after its input;
    the last is the end. `lengths` counts the inputs of each example.
    """

    id_N: Tensor
    label_N: Tensor
    is_target_N: Tensor
    lengths: tuple[int, ...]

    def to(self, device: torch.device) -> "Sequences":
        """The same on a device; copies from pinned memory do not wait."""
        id_N, label_N, is_target_N = (t.to(device, non_blocking=True) for t in self[:3])
        return Sequences(id_N, label_N, is_target_N, self.lengths)


def pack_sequences(
    sources: Sequence[npt.NDArray[np.integer]], targets: Sequence[npt.NDArray[np.integer]]
) -> Sequences:
    """The Sequences of some sources and targets, both without begin; targets without end."""
    inputs, labels, is_target = [], [], []
    for source, target in zip(sources, targets, strict=True):
        whole = np.concatenate([[PAD], source, [SEPARATOR], target, [END]]).astype(np.int64)
        inputs.append(whole[:-1])
        labels.append(whole[1:])
        is_target.append(np.arange(len(whole) - 1) > len(source))
    columns = (torch.from_numpy(np.concatenate(rows)) for rows in (inputs, labels, is_target))
    id_N, label_N, is_target_N = columns
    return Sequences(id_N, label_N, is_target_N, tuple(map(len, inputs)))


def pack_prompts(sources: Sequence[npt.NDArray[np.integer]]) -> Sequences:
    """The Sequences of sources alone, up to but not including the separator."""
    inputs = [np.concatenate([[PAD], source]).astype(np.int64) for source in sources]
    id_N = torch.from_numpy(np.concatenate(inputs))
    is_target_N = torch.zeros_like(id_N, dtype=torch.bool)
    return Sequences(id_N, id_N, is_target_N, tuple(map(len, inputs)))


class Layout:
    """The padded forms of packed sequences, each built when a layer first asks for it.

    One Layout serves all layers of a forward pass.
    """

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.lengths, self.device = tuple(lengths), device
        self.longest = max(lengths)
        self.length_B = torch.tensor(self.lengths, device=device)
        self._blocks: dict[int, Blocks] = {}

    @cached_property
    def example_N(self) -> Tensor:
        """[N] the example of each token."""
        example_B = torch.arange(len(self.lengths), device=self.device)
        return example_B.repeat_interleave(self.length_B, output_size=sum(self.lengths))

    @cached_property
    def position_N(self) -> Tensor:
        """[N] the position of each token in its example, from 0."""
        return torch.arange(sum(self.lengths), device=self.device) - self._starting_at(self.lengths)

    @cached_property
    def slot_in_row_N(self) -> Tensor:
        """[N] slots in [B, S]."""
        return self.example_N * self.longest + self.position_N

    def blocks(self, size: int) -> "Blocks":
        """Blocks of `size` tokens; each example starts a new block."""
        if size not in self._blocks:
            counts = [-(-length // size) for length in self.lengths]
            slot_N = self._starting_at(counts) * size + self.position_N
            count_B = torch.tensor(counts, device=self.device)
            ordinal_C = torch.arange(sum(counts), device=self.device)
            first_B = count_B.cumsum(0) - count_B
            rank_C = ordinal_C - first_B.repeat_interleave(count_B, output_size=sum(counts))
            self._blocks[size] = Blocks(slot_N, rank_C, size)
        return self._blocks[size]

    def memory_rows(self, factor: int) -> int:
        """R, such that R * factor positions hold the longest example."""
        return -(-self.longest // factor)

    def slots_by_row(self, factor: int) -> Tensor:
        """[N] slots in [B, R * F]: the tokens of an example in their order."""
        return self.example_N * (self.memory_rows(factor) * factor) + self.position_N

    def slots_by_phase(self, factor: int) -> Tensor:
        """[N] slots in [B, F, R]: position p stands at (p % F, p // F)."""
        phase_N, row_N = self.position_N % factor, self.position_N // factor
        return (self.example_N * factor + phase_N) * self.memory_rows(factor) + row_N

    def _starting_at(self, sizes: Sequence[int]) -> Tensor:
        """[N] for each token the sum of the sizes of the examples before its own."""
        size_B = torch.tensor(sizes, device=self.device)
        return (size_B.cumsum(0) - size_B)[self.example_N]


def scatter_rows(x: Tensor, slot: Tensor, size: int) -> Tensor:
    """[size, width] the rows of `x` at their slots, zeros elsewhere."""
    return x.new_zeros(size, x.shape[-1]).index_copy_(0, slot, x)


class Blocks(NamedTuple):
    """Tokens in blocks: their slots in [C, b]; the rank of each block in its example."""

    slot_N: Tensor
    rank_C: Tensor
    size: int
