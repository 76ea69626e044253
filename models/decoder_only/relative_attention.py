"""Segments with memory and relative positions: Transformer-XL (Dai et al. 2019).

A sequence is cut into segments. A query sees its own segment up to itself and the last `memory`
tokens before the segment, through which no gradient flows to them. Scores depend on contents and
distances alone:

    score(i, j) = (q_i + u) . k_j + (q_i + v) . r_(i - j), divided by the root of a head's width

with u and v shared by all layers, as in the released code, and r a projected sinusoid. Memory never
reaches into another example. Since memory holds the layer's inputs of earlier segments, and these
do not depend on later ones, all segments are worked on at once, layer by layer; the result is that
of a loop over segments. The released code orders a sinusoid as sines, then cosines; here they
alternate. The projection makes this a matter of naming.

Letters as in `windows.py`, and W width.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from wikisum.models.decoder_only.attention import RingAttention
from wikisum.models.decoder_only.caches import Cache, attend
from wikisum.models.decoder_only.sequences import Blocks, Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.decoder_only.windows import Ring, window_mask, with_previous
from wikisum.models.network.dropout import dropout
from wikisum.models.network.packing import scatter_rows
from wikisum.models.network.positions import sinusoids

# Attention scores held at once. PyTorch has no fused attention with a learned bias per pair of
# positions, so the scores of a few segments are computed at a time, and once more in the backward
# pass. They are never all in memory, and each part is small enough for the cache of a CPU.
MAX_SCORES = 2**21


class RelativeAttention(RingAttention):
    """Attention of a segment to itself and its memory; `biases` [2, H, D] are u and v."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        width = settings.width
        super().__init__(settings)
        self.segment, self.memory = settings.block, settings.memory
        self.lookback = -(-self.memory // self.segment)
        self.ring = Ring(self.segment, self.lookback, self.memory)
        self.position = nn.Linear(width, width, bias=False)

    def forward(self, x_NW: Tensor, layout: Layout, biases: Tensor) -> Tensor:  # type: ignore[override]
        """[N, W] what each token finds."""
        blocks = layout.blocks(min(self.segment, layout.longest))
        lookback = min(self.lookback, -(-layout.longest // blocks.size) - 1)
        projected_NE = self._projected(x_NW, self.query, self.key, self.value)
        query, key, value = self._by_block(projected_NE, blocks, 3)
        u_H1D, v_H1D = biases[:, :, None].to(query.dtype)
        past = self._projected(x_NW.detach(), self.key, self.value)
        keys_values = [
            torch.cat([with_previous(old, lookback)[:, :, : -blocks.size], new], 2)
            for old, new in zip(self._by_block(past, blocks, 2), (key, value), strict=True)
        ]
        visible_CbG = window_mask(blocks, lookback, self.memory)[:, 0]
        table_HGD = self._positions(x_NW, (lookback + 1) * blocks.size).flip(1)
        scale = query.shape[-1] ** -0.5
        queries = (query + u_H1D) * scale, (query + v_H1D) * scale
        size = max(1, MAX_SCORES // (self.heads * visible_CbG[0].numel()))
        parts = zip(*(t.split(size) for t in (*queries, *keys_values, visible_CbG)), strict=True)
        found = [checkpoint(self._attend, *part, table_HGD, use_reentrant=False) for part in parts]
        found_CbW = torch.cat(found).transpose(1, 2).flatten(2)
        return self.output(found_CbW.flatten(0, 1).index_select(0, blocks.slot_N))

    def _attend(
        self,
        query_CHbD: Tensor,
        position_query_CHbD: Tensor,
        key_CHGD: Tensor,
        value_CHGD: Tensor,
        visible_CbG: Tensor,
        table_HGD: Tensor,
    ) -> Tensor:
        """[C, H, b, D] what the tokens of some segments find; queries are scaled already."""
        parts = query_CHbD, position_query_CHbD, key_CHGD, table_HGD, visible_CbG
        score: Tensor = RelativeScores.apply(*parts)  # type: ignore[no-untyped-call]
        return dropout(score.softmax(-1), self.dropout, self.training) @ value_CHGD

    def _by_block(self, x_NE: Tensor, blocks: Blocks, parts: int) -> list[Tensor]:
        """Parts of projected tokens, each [C, H, b, D]."""
        count, size = len(blocks.rank_C), blocks.size
        flat = scatter_rows(x_NE, blocks.slot_N, count * size).view(count, size, -1)
        return [self.split(part) for part in flat.chunk(parts, -1)]

    def _positions(self, like: Tensor, count: int) -> Tensor:
        """[H, G, D] the projected sinusoid of each distance, from 0 to `count` - 1."""
        table = sinusoids(count, like.shape[-1]).to(like)
        return self.split(self.position(table)[None])[0]

    def weights_from(self, x_TW: Tensor, first: int, biases: Tensor) -> Tensor:
        """[Q, T] the attention of the tokens of one example, from `first` on, to all of them."""
        key_T = torch.arange(len(x_TW), device=x_TW.device)
        query_HQD = self.split(self.query(x_TW[None, first:]))[0]
        key_HTD = self.split(self.key(x_TW)[None])[0]
        u_H1D, v_H1D = biases[:, :, None].to(x_TW)
        by_distance_HQG = (query_HQD + v_H1D) @ self._positions(x_TW, self.ring.size).mT
        distance_QT = (key_T[first:, None] - key_T).clamp(0, self.ring.size - 1)
        index_HQT = distance_QT.expand(len(query_HQD), -1, -1)
        score_HQT = (query_HQD + u_H1D) @ key_HTD.mT + by_distance_HQG.gather(2, index_HQT)
        score_HQT = score_HQT * query_HQD.shape[-1] ** -0.5
        visible = self.ring.is_visible(key_T[first:], key_T)
        weight_HQT: Tensor = score_HQT.masked_fill(~visible, float("-inf")).softmax(-1)
        return weight_HQT.mean(0)

    def step(
        self, x_BKW: Tensor, cache: Cache, position_B: Tensor, step: int, biases: Tensor
    ) -> Tensor:
        """[B, K, W] what one more token of each hypothesis finds; the cache changes in place."""
        query, seen = self.write(x_BKW, cache, position_B)
        by_distance = torch.einsum(
            "bkhd,hgd->bkhg", query + biases[1], self._positions(x_BKW, self.ring.size)
        )
        index_BG = self.ring.distances(position_B)
        index = index_BG[:, None, None].expand_as(by_distance)
        bias_BKHG = by_distance.gather(-1, index) * query.shape[-1] ** -0.5
        return self.output(attend(query + biases[0], None, seen, bias_BKHG))


class RelativeScores(torch.autograd.Function):
    """[C, H, b, G] scores by content and by distance, -inf where a key is not visible.

    Column g of the table stands for distance G - 1 - g. Query i and key j of a window are
    G - b + i - j tokens apart, so score (i, j) takes column j + b - 1 - i: with its rows laid one
    after another, the matrix of [b, G] scores by distance is read in rows of G - 1 from element
    b - 1 on. So the shift is a view, and its gradient a plain copy. Columns behind the last belong
    to keys after their query, which are never visible.
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, position_query: Tensor, key: Tensor, table: Tensor, visible: Tensor
    ) -> Tensor:
        ctx.save_for_backward(query, position_query, key, table)
        by_distance = position_query @ table.mT
        count, heads, rows, columns = by_distance.shape
        strides = rows * columns, columns - 1, 1
        shifted = by_distance.as_strided((count * heads, rows, columns), strides, rows - 1)
        score = torch.baddbmm(shifted, query.flatten(0, 1), key.flatten(0, 1).mT)
        return score.view_as(by_distance).masked_fill_(~visible[:, None], float("-inf"))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, position_query, key, table = ctx.saved_tensors
        rows = grad.shape[-2]
        by_distance = torch.empty_like(grad).flatten(2)
        by_distance[..., : rows - 1] = 0
        by_distance[..., rows - 1 : -1] = grad[..., :-1].flatten(2)
        by_distance[..., -1] = grad[..., -1, -1]
        by_distance = by_distance.view_as(grad)
        of_table = (by_distance.mT @ position_query).sum(0)
        return grad @ key, by_distance @ table, grad.mT @ query, of_table, None
