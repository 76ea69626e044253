"""Attention layers of decoder-only models: full, local and memory-compressed.

All see earlier tokens of the same example only. Letters as in `sequences.py` and `caches.py`, and
W width, T = R memory rows of the longest example.

Liu et al. 2018 (section 4.2.4) and the code of its authors differ in two points, which are
settings; the defaults are the paper's. In local layers the code also looks back to the block
before (`lookback` 1). The code compresses tokens before they become keys and values, by one
convolution for both (`compression` "before"); the paper compresses keys and values ("after").
"""

import torch
from torch import Tensor, nn

from wikisum.models.decoder_only.caches import Cache, attend, put
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.decoder_only.windows import Ring, window_mask, with_previous
from wikisum.models.network.attention import Attention
from wikisum.models.network.packing import scatter_rows


class FullAttention(Attention):
    """Every token sees all earlier ones and itself (T-D)."""

    def forward(self, x_NW: Tensor, layout: Layout) -> Tensor:  # type: ignore[override]
        """[N, W] what each token finds."""
        shape = len(layout.lengths), layout.longest, -1
        projected_NE = self._projected(x_NW, self.query, self.key, self.value)
        flat = scatter_rows(projected_NE, layout.slot_in_row_N, shape[0] * shape[1])
        query, key, value = map(self.split, flat.view(shape).chunk(3, -1))
        found_BSW = self.attend(query, (key, value), causal=True)
        return self.output(found_BSW.flatten(0, 1).index_select(0, layout.slot_in_row_N))

    def weights_from(self, x_TW: Tensor, first: int) -> Tensor:
        """[Q, T] the attention of the tokens of one example, from `first` on, to all of them."""
        key_T = torch.arange(len(x_TW), device=x_TW.device)
        return mean_weights(self, x_TW, x_TW, first, key_T <= key_T[first:, None])

    def start(self, x_NW: Tensor, layout: Layout, beam: int, steps: int) -> Cache:
        """The cache of a prompt, with room for `steps` more tokens of each hypothesis."""
        shape = len(layout.lengths), layout.longest, -1
        rows = scatter_rows(x_NW, layout.slot_in_row_N, shape[0] * shape[1]).view(shape)
        keys, values = self.keys_values(rows)
        is_token_BS = torch.arange(layout.longest, device=x_NW.device) < layout.length_B[:, None]
        empty = keys.new_zeros(2, shape[0], beam, self.heads, steps, keys.shape[-1])
        return Cache((keys, values, is_token_BS), (empty[0], empty[1]))

    def step(self, x_BKW: Tensor, cache: Cache, position_B: Tensor, step: int) -> Tensor:
        """[B, K, W] what one more token of each hypothesis finds; the cache changes in place."""
        query, key, value = heads_of(self, x_BKW)
        written_keys, written_values = cache.written
        written_keys[:, :, :, step], written_values[:, :, :, step] = key, value
        is_written = torch.ones(len(x_BKW), step + 1, dtype=torch.bool, device=x_BKW.device)
        written = written_keys[:, :, :, : step + 1], written_values[:, :, :, : step + 1], is_written
        keys, values, is_token_BS = cache.prompt
        return self.output(attend(query, (keys, values, is_token_BS), written))


class RingAttention(Attention):
    """Attention to the last tokens alone, whose keys and values a search keeps in a ring."""

    ring: Ring

    def start(self, x_NW: Tensor, layout: Layout, beam: int, steps: int) -> Cache:
        """The cache of a prompt: the keys and values of its last tokens."""
        keys, values = self._projected(x_NW, self.key, self.value).chunk(2, -1)
        filled = (self.ring.filled(part, layout, beam, self.heads) for part in (keys, values))
        return Cache(written=tuple(filled))

    def write(
        self, x_BKW: Tensor, cache: Cache, position_B: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor]]:
        """The query of one more token, and what it sees, itself included; in place."""
        query, key, value = heads_of(self, x_BKW)
        for ring, new in zip(cache.written, (key, value), strict=True):
            self.ring.write(position_B, ring, new)
        return query, (cache.written[0], cache.written[1], self.ring.visible_slots(position_B))


class LocalAttention(RingAttention):
    """Tokens see the earlier ones of their block, and of `lookback` blocks before it."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__(settings)
        self.block, self.lookback = settings.block, settings.lookback
        self.ring = Ring(self.block, self.lookback, self.lookback * self.block)

    def forward(self, x_NW: Tensor, layout: Layout) -> Tensor:  # type: ignore[override]
        """[N, W] what each token finds; each block is a row of a padded batch."""
        blocks = layout.blocks(min(self.block, layout.longest))
        count = len(blocks.rank_C)
        projected_NE = self._projected(x_NW, self.query, self.key, self.value)
        flat = scatter_rows(projected_NE, blocks.slot_N, count * blocks.size)
        query, key, value = map(self.split, flat.view(count, blocks.size, -1).chunk(3, -1))
        if self.lookback and blocks.size == self.block:
            keys_values = (with_previous(key, self.lookback), with_previous(value, self.lookback))
            mask = window_mask(blocks, self.lookback, self.lookback * self.block)
            found_CbW = self.attend(query, keys_values, mask)
        else:
            found_CbW = self.attend(query, (key, value), causal=True)
        return self.output(found_CbW.flatten(0, 1).index_select(0, blocks.slot_N))

    def weights_from(self, x_TW: Tensor, first: int) -> Tensor:
        """[Q, T] the attention of the tokens of one example, from `first` on, to all of them."""
        key_T = torch.arange(len(x_TW), device=x_TW.device)
        return mean_weights(self, x_TW, x_TW, first, self.ring.is_visible(key_T[first:], key_T))

    def step(self, x_BKW: Tensor, cache: Cache, position_B: Tensor, step: int) -> Tensor:
        """[B, K, W] what one more token of each hypothesis finds; the cache changes in place."""
        query, seen = self.write(x_BKW, cache, position_B)
        return self.output(attend(query, None, seen))


class CompressedAttention(Attention):
    """Tokens see a memory of one row per `factor` tokens, made by a strided convolution.

    Row 0 of the memory is the first token as it is, so that every query sees something; row m is
    made of the tokens factor * (m - 1) to factor * m - 1. A query at position q sees row m if
    factor * m <= q: the rows of complete blocks before it. Tokens behind the last complete block
    make no row.

    Queries q = factor * t + r with one remainder r see exactly the rows m <= t. So they are laid
    out by remainder, and attention is plainly causal in each: no mask is made, and half of the
    products are saved.
    """

    def __init__(self, settings: DecoderOnlySettings) -> None:
        width = settings.width
        super().__init__(settings)
        self.factor, self.is_before = settings.factor, settings.compression == "before"
        self.shorten = nn.ModuleList(
            nn.Linear(self.factor * width, width) for _ in range(1 if self.is_before else 2)
        )

    def forward(self, x_NW: Tensor, layout: Layout) -> Tensor:  # type: ignore[override]
        """[N, W] what each token finds in the memory."""
        count, rows, factor = len(layout.lengths), layout.memory_rows(self.factor), self.factor
        slot_N = layout.slots_by_phase(factor)
        flat = scatter_rows(self.query(x_NW), slot_N, count * factor * rows)
        query = self.split(flat.view(count * factor, rows, -1))
        keys, values = (
            self.split(part[:, :rows]).repeat_interleave(factor, 0)
            for part in self._memory(x_NW, layout)
        )
        found = self.attend(query, (keys, values), causal=True)
        return self.output(found.flatten(0, 1).index_select(0, slot_N))

    def _memory(self, x_NW: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
        """Keys and values [B, R + 1, W] of the rows of memory; the last ones may hold padding."""
        count, rows = len(layout.lengths), layout.memory_rows(self.factor)
        u_NU = self._uncompressed(x_NW)
        flat = scatter_rows(u_NU, layout.slots_by_row(self.factor), count * rows * self.factor)
        u_BRFU = flat.view(count, rows, self.factor, -1)
        first_B1E = self._keys_values_of(u_BRFU[:, :1, 0])
        keys, values = torch.cat([first_B1E, self._compressed(u_BRFU)], 1).chunk(2, -1)
        return keys, values

    def _uncompressed(self, x: Tensor) -> Tensor:
        """[..., U] what is compressed: tokens, or their keys and values side by side."""
        return x if self.is_before else self._projected(x, self.key, self.value)

    def _keys_values_of(self, u: Tensor) -> Tensor:
        """[..., 2 W] keys and values of what `_uncompressed` gave."""
        return self._projected(u, self.key, self.value) if self.is_before else u

    def _compressed(self, u_xFU: Tensor) -> Tensor:
        """[..., 2 W] keys and values of blocks of `factor` vectors."""
        if self.is_before:
            return self._keys_values_of(self.shorten[0](u_xFU.flatten(-2)))
        halves = (part.flatten(-2) for part in u_xFU.chunk(2, -1))
        return torch.cat([f(part) for f, part in zip(self.shorten, halves, strict=True)], -1)

    def weights_from(self, x_TW: Tensor, first: int) -> Tensor:
        """[Q, T] the attention of the tokens of one example, from `first` on, to all of them.

        That of a row of memory is shared evenly by the tokens it was made of.
        """
        count = len(x_TW)
        keys_1MW, _ = self._memory(x_TW, Layout([count], x_TW.device))
        query_Q1 = torch.arange(first, count, device=x_TW.device)[:, None]
        row_M = torch.arange(keys_1MW.shape[1], device=x_TW.device)
        seen_QM = row_M * self.factor <= query_Q1
        weight_QM = mean_weights(self, x_TW, keys_1MW[0], first, seen_QM, is_projected=True)
        shared_QT = weight_QM[:, 1:].repeat_interleave(self.factor, 1)[:, :count] / self.factor
        shared_QT[:, 0] += weight_QM[:, 0]
        return shared_QT

    def start(self, x_NW: Tensor, layout: Layout, beam: int, steps: int) -> Cache:
        """The cache of a prompt: its memory, and the tokens of its last, incomplete block.

        Each hypothesis has room for the rows that its own tokens will complete.
        """
        factor, count = self.factor, len(layout.lengths)
        keys, values = (self.split(part) for part in self._memory(x_NW, layout))
        row_M = torch.arange(keys.shape[2], device=x_NW.device)
        is_row_BM = row_M <= layout.length_B[:, None] // factor
        length_N = layout.length_B[layout.example_N]
        is_last_N = layout.position_N >= length_N - length_N % factor
        slot_N = (layout.example_N * factor + layout.position_N % factor)[is_last_N]
        buffer = scatter_rows(self._uncompressed(x_NW)[is_last_N], slot_N, count * factor)
        buffer_BKFU = buffer.view(count, 1, factor, -1).repeat(1, beam, 1, 1)
        empty = keys.new_zeros(2, count, beam, self.heads, -(-steps // factor) + 1, keys.shape[-1])
        return Cache((keys, values, is_row_BM), (empty[0], empty[1], buffer_BKFU))

    def step(self, x_BKW: Tensor, cache: Cache, position_B: Tensor, step: int) -> Tensor:
        """[B, K, W] what one more token of each hypothesis finds; the cache changes in place.

        The row of the current block is written at every step, from whatever its buffer holds. It
        is seen only after the block is complete, when its last write was the right one.
        """
        written_keys, written_values, buffer_BKFU = cache.written
        put(buffer_BKFU, position_B % self.factor, self._uncompressed(x_BKW), dim=2)
        by_head = *x_BKW.shape[:2], self.heads, -1
        rows = self._compressed(buffer_BKFU).chunk(2, -1)
        # rows complete before the first token of the search belong to the prompt
        row_B = position_B // self.factor - (position_B - step) // self.factor
        for whole, new in zip((written_keys, written_values), rows, strict=True):
            put(whole, row_B, new.reshape(by_head), dim=3)
        row_G = torch.arange(written_keys.shape[3], device=x_BKW.device)
        written = written_keys, written_values, row_G < row_B[:, None]
        keys, values, is_row_BM = cache.prompt
        query = self.query(x_BKW).view(by_head)
        return self.output(attend(query, (keys, values, is_row_BM), written))


def mean_weights(
    attention: Attention,
    x_TW: Tensor,
    memory_MW: Tensor,
    first: int,
    visible_QM: Tensor,
    is_projected: bool = False,
) -> Tensor:
    """[Q, M] the mean over heads of the attention of the tokens from `first` on to a memory.

    `is_projected` says that the memory holds keys already.
    """
    query_HQD = attention.split(attention.query(x_TW[None, first:]))[0]
    keys_MW = memory_MW if is_projected else attention.key(memory_MW)
    score_HQM = query_HQD @ attention.split(keys_MW[None])[0].mT * query_HQD.shape[-1] ** -0.5
    weight_HQM: Tensor = score_HQM.masked_fill(~visible_QM, float("-inf")).softmax(-1)
    return weight_HQM.mean(0)


def heads_of(attention: Attention, x_BKW: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value [B, K, H, D] of one token of each hypothesis."""
    projected = attention._projected(x_BKW, attention.query, attention.key, attention.value)
    by_head = *x_BKW.shape[:2], attention.heads, -1
    query, key, value = (part.reshape(by_head) for part in projected.chunk(3, -1))
    return query, key, value
