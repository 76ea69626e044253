"""Source and target as one sequence (Liu et al. 2018, section 4.2.3), and its padded forms.

Letters: N tokens of all examples, B examples, S tokens of the longest example, C blocks of all
examples, b tokens of a block, F compression factor, R rows of compressed memory.
Work on single tokens is done on [N, width] without padding. Attention and convolution see padded
forms; a slot is the index of a token in such a form laid flat.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from wikisum.models.network.packing import Batch, Source
from wikisum.ranker.data.vocab import BEGIN, PAD

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


def from_batch(batch: Batch) -> Sequences:
    """The Sequences of a batch: its sources, each a single list of ids, and its targets."""
    source_B = batch.source.is_source_BL.sum(1)
    target_B = (batch.label_BS != PAD).sum(1)
    length_B = 1 + source_B + target_B
    start_B = length_B.cumsum(0) - length_B
    total = int(length_B.sum())
    id_N = batch.target_BS.new_zeros(total)  # padding
    label_N, is_target_N = torch.zeros_like(id_N), torch.zeros_like(id_N, dtype=torch.bool)
    longest = batch.source.is_source_BL.shape[1]
    example, position = _of_slots(batch.source.slot_in_example_N, longest)
    id_N[start_B[example] + 1 + position] = batch.source.id_N
    label_N[start_B[example] + position] = batch.source.id_N
    label_N[start_B + source_B] = SEPARATOR
    example, position = _of_slots(batch.label_slot_Y, batch.label_BS.shape[1])
    at_Y = start_B[example] + 1 + source_B[example] + position
    id_N[at_Y] = batch.target_BS.flatten()[batch.label_slot_Y]
    label_N[at_Y] = batch.label_Y
    is_target_N[at_Y] = True
    return Sequences(id_N, label_N, is_target_N, tuple(length_B.tolist()))


def prompts(source: Source) -> Sequences:
    """The Sequences of sources alone, up to but not including the separator."""
    length_B = 1 + source.is_source_BL.sum(1)
    start_B = length_B.cumsum(0) - length_B
    example, position = _of_slots(source.slot_in_example_N, source.is_source_BL.shape[1])
    id_N = source.id_N.new_zeros(int(length_B.sum()))
    id_N[start_B[example] + 1 + position] = source.id_N
    is_target_N = torch.zeros_like(id_N, dtype=torch.bool)
    return Sequences(id_N, id_N, is_target_N, tuple(length_B.tolist()))


def _of_slots(slot: Tensor, longest: int) -> tuple[Tensor, Tensor]:
    """Row and column of slots in a padded form."""
    row = torch.div(slot, longest, rounding_mode="floor")
    return row, slot - row * longest


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


class Blocks(NamedTuple):
    """Tokens in blocks: their slots in [C, b]; the rank of each block in its example."""

    slot_N: Tensor
    rank_C: Tensor
    size: int
