"""Blocks of tokens and the tokens before them: the window of local and of recurrent attention.

Letters: N tokens, C blocks, b tokens of a block, l blocks looked back to, G = (l + 1) * b keys of
a window, H heads, D width of a head, B examples, K hypotheses.
A query sees the tokens before it in its own block and, at most `memory` tokens back from the
start of the block, those of the blocks before.
"""

import torch
from torch import Tensor

from wikisum.models.decoder_only.caches import put
from wikisum.models.decoder_only.sequences import Blocks, Layout
from wikisum.models.network.packing import scatter_rows


def with_previous(x_CHbD: Tensor, lookback: int) -> Tensor:
    """[C, H, G, D] each block after the `lookback` blocks before it in memory.

    The first blocks of an example are preceded by those of another; `window_mask` hides them.
    """
    count = len(x_CHbD)
    padding = x_CHbD.new_zeros(lookback, *x_CHbD.shape[1:])
    padded = torch.cat([padding, x_CHbD])
    return torch.cat([padded[i : i + count] for i in range(lookback + 1)], 2)


def window_mask(blocks: Blocks, lookback: int, memory: int) -> Tensor:
    """[C, 1, b, G] whether a query sees a key (bool)."""
    device = blocks.rank_C.device
    query_b1 = torch.arange(blocks.size, device=device)[:, None]
    key_G = torch.arange(-lookback * blocks.size, blocks.size, device=device)  # from the block on
    visible_bG = (key_G <= query_b1) & (key_G >= -memory)
    is_own_CG = key_G >= -blocks.rank_C[:, None] * blocks.size
    return (visible_bG & is_own_CG[:, None])[:, None]


class Ring:
    """Keys and values of the last G positions of each hypothesis: position p at slot p % G."""

    def __init__(self, block: int, lookback: int, memory: int) -> None:
        self.block, self.memory = block, memory
        self.size = (lookback + 1) * block

    def filled(self, x_NE: Tensor, layout: Layout, beam: int, heads: int) -> Tensor:
        """[B, K, H, G, D] the end of each prompt, for all hypotheses alike."""
        length_N = layout.length_B[layout.example_N]
        is_last_N = layout.position_N >= length_N - self.size
        slot_N = layout.example_N * self.size + layout.position_N % self.size
        count = len(layout.lengths)
        flat = scatter_rows(x_NE[is_last_N], slot_N[is_last_N], count * self.size)
        by_head = flat.view(count, 1, self.size, heads, -1).transpose(2, 3)
        return by_head.expand(-1, beam, -1, -1, -1).contiguous()

    def distances(self, position_B: Tensor) -> Tensor:
        """[B, G] how far back from a position the position at each slot is."""
        slot_G = torch.arange(self.size, device=position_B.device)
        return (position_B[:, None] - slot_G) % self.size

    def visible_slots(self, position_B: Tensor) -> Tensor:
        """[B, G] the slots that a query at a position, whose own slot is filled, sees."""
        key_BG = position_B[:, None] - self.distances(position_B)
        oldest_B = position_B // self.block * self.block - self.memory
        return key_BG >= oldest_B.clamp(min=0)[:, None]

    def is_visible(self, query_Q: Tensor, key_M: Tensor) -> Tensor:
        """[Q, M] whether queries see keys, by their positions."""
        oldest_Q1 = (query_Q // self.block * self.block - self.memory)[:, None]
        return (key_M <= query_Q[:, None]) & (key_M >= oldest_Q1)

    def write(self, position_B: Tensor, ring_BKHGD: Tensor, x_BKHD: Tensor) -> None:
        """Put keys or values of a position into their slot, in place."""
        put(ring_BKHGD, position_B % self.size, x_BKHD, dim=3)
