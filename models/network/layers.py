"""The layers of the encoder-decoder transformers: sublayers, encoder and decoder layers.

Letters as in `packing.py`, and W width, S target positions, Y some of those of all targets, H
heads, D width of a head, K hypotheses, C cached positions.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn

from wikisum.models.network.attention import Attention
from wikisum.models.network.dropout import Dropout, relu_dropout
from wikisum.models.network.packing import Source, pad
from wikisum.models.network.settings import EncoderDecoderSettings, LayerSettings

NORM_EPSILON = 1e-6
KeysValues = tuple[Tensor, Tensor]


class Residual(nn.Module):
    """x + f(x) with layer normalization: after the sum (the papers) or before f (`pre_norm`)."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width, NORM_EPSILON)
        self.dropout = Dropout(settings.dropout)
        self.pre_norm = settings.pre_norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            out: Tensor = x + self.dropout(sublayer(self.norm(x)))
        else:
            out = self.norm(x + self.dropout(sublayer(x)))
        return out


class FeedForward(nn.Sequential):
    """Two linear layers with a ReLU between them, applied to each token."""

    def __init__(self, settings: EncoderDecoderSettings) -> None:
        super().__init__(
            nn.Linear(settings.width, settings.feedforward),
            nn.ReLU(inplace=True),
            Dropout(settings.dropout if settings.feedforward_dropout else 0.0),
            nn.Linear(settings.feedforward, settings.width),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the output of each token; ReLU and dropout keep one tensor for both."""
        widen, _, drop, narrow = self
        assert isinstance(drop, Dropout)
        out: Tensor = narrow(relu_dropout(widen(x), drop.p, self.training))
        return out


class LocalLayer(nn.Module):
    """Each token attends to its own paragraph (equations 11 and 12 of Liu & Lapata 2019)."""

    def __init__(self, settings: EncoderDecoderSettings) -> None:
        super().__init__()
        self.attention = Attention(settings)
        self.feedforward = FeedForward(settings)
        self.to_attention, self.to_feedforward = Residual(settings), Residual(settings)

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        slot_N, groups = source.slot_in_group_N, source.groups
        x_NW = self.to_attention(
            x_NW, lambda x: self.attention.self_attention_varlen(x, slot_N, groups)
        )
        return self.to_feedforward(x_NW, self.feedforward)


class TargetSlots(NamedTuple):
    """Target positions in use: indexes into [B, S] flattened, and the same as a mask."""

    slot_Y: Tensor
    is_used_BS: Tensor


class SourceMemory(NamedTuple):
    """What a decoder layer keeps of the source: keys and values [B, H, L, D], and a mask [B, L]."""

    keys_BHLD: Tensor
    values_BHLD: Tensor
    is_source_BL: Tensor

    def rows(self, index: Tensor) -> "SourceMemory":
        """Return the memory of some examples."""
        return SourceMemory(*(part.index_select(0, index) for part in self))


class SourceAttention(Attention):
    """Each target position attends to all source tokens of its example."""

    def remember(self, encoded_BLW: Tensor, is_source_BL: Tensor) -> SourceMemory:
        """Return keys and values of the encoded source, the same for every step."""
        return SourceMemory(*self.keys_values(encoded_BLW), is_source_BL)

    def from_targets(self, x_YW: Tensor, slots: TargetSlots, memory: SourceMemory) -> Tensor:
        """Return the output for some target positions, [Y, W]."""
        keys, values, is_source_BL = memory
        mask = is_source_BL[:, None, None]
        return self.cross_attention_varlen(x_YW, *slots, (keys, values), mask)

    def from_hypotheses(self, x_BKW: Tensor, memory: SourceMemory) -> Tensor:
        """Return the output for the next position of each hypothesis, [B, K, W]."""
        keys, values, is_source_BL = memory
        return self(x_BKW, (keys, values), is_source_BL[:, None, None])

    def token_weights(self, x_BSW: Tensor, memory: SourceMemory) -> Tensor:
        """Return the attention to source tokens, mean of the heads, [B, S, L]."""
        mask = memory.is_source_BL[:, None, None]
        return self.weights(x_BSW, memory.keys_BHLD, mask).mean(1)


class DecoderLayer(nn.Module):
    """Each target token attends to the target before it, then to the source.

    `cross_attention` is a `SourceAttention` or has the same methods; what its `remember` returns is
    the `memory` of the other methods.
    """

    def __init__(
        self, settings: EncoderDecoderSettings, cross_attention: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.self_attention = Attention(settings)
        self.cross_attention: Any = cross_attention or SourceAttention(settings)
        self.feedforward = FeedForward(settings)
        self.to_self, self.to_cross, self.to_feedforward = (Residual(settings) for _ in range(3))

    def forward(self, x_YW: Tensor, slots: TargetSlots, memory: Any) -> Tensor:
        """Return the output for all positions at once, [Y, W]."""
        x_YW = self._look_back(x_YW, slots)
        x_YW = self.to_cross(x_YW, lambda x: self.cross_attention.from_targets(x, slots, memory))
        return self.to_feedforward(x_YW, self.feedforward)

    def step(
        self, x_BKW: Tensor, cache: KeysValues, step: int, is_ancestor_BKC: Tensor, memory: Any
    ) -> Tensor:
        """Return the output for the next position of K hypotheses per example, [B, K, W].

        The cache [B, H, steps * K, D] takes the new keys in the K slots of this step and is
        never moved: `is_ancestor_BKC` tells which cached positions belong to each hypothesis.
        """
        beam = x_BKW.shape[1]
        end = (step + 1) * beam

        def look_back(x_BKW: Tensor) -> Tensor:
            new = self.self_attention.keys_values(x_BKW)
            for whole, part in zip(cache, new, strict=True):
                whole[:, :, end - beam : end] = part
            keys, values = (whole[:, :, :end] for whole in cache)
            return self.self_attention(x_BKW, (keys, values), is_ancestor_BKC[:, None])

        x_BKW = self.to_self(x_BKW, look_back)
        x_BKW = self.to_cross(x_BKW, lambda x: self.cross_attention.from_hypotheses(x, memory))
        return self.to_feedforward(x_BKW, self.feedforward)

    def source_weights(self, x_YW: Tensor, slots: TargetSlots, memory: Any) -> Tensor:
        """Return how target positions attend to source tokens, [B, S, L]."""
        x_YW = self._look_back(x_YW, slots)
        if self.to_cross.pre_norm:
            x_YW = self.to_cross.norm(x_YW)
        return self.cross_attention.token_weights(pad(x_YW, *slots), memory)

    def _look_back(self, x_YW: Tensor, slots: TargetSlots) -> Tensor:
        slot_Y, is_used_BS = slots
        return self.to_self(
            x_YW,
            lambda x: self.self_attention.self_attention_varlen(
                x, slot_Y, [is_used_BS], causal=True
            ),
        )
