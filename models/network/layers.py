"""The layers of the encoder-decoder transformers: sublayers, encoder and decoder layers.

Letters as in `packing.py`, and W width, S target positions, Y some of those of all targets, H
heads, D width of a head, K hypotheses, C cached positions.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from torch import Tensor, nn

from wikisum.models.network.attention import Attention
from wikisum.models.network.packing import Source, pad

NORM_EPSILON = 1e-6
KeysValues = tuple[Tensor, Tensor]


class LayerSettings(Protocol):
    """The settings that a layer reads."""

    @property
    def width(self) -> int: ...
    @property
    def feedforward(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def dropout(self) -> float: ...
    @property
    def attention_dropout(self) -> float: ...
    @property
    def pre_norm(self) -> bool: ...
    @property
    def bias(self) -> bool: ...


class Residual(nn.Module):
    """x + f(x) with layer normalisation: after the sum (the papers) or before f (`pre_norm`)."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width, NORM_EPSILON)
        self.dropout = nn.Dropout(settings.dropout)
        self.pre_norm = settings.pre_norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            out: Tensor = x + self.dropout(sublayer(self.norm(x)))
        else:
            out = self.norm(x + self.dropout(sublayer(x)))
        return out


class FeedForward(nn.Sequential):
    """Two linear layers with a ReLU between them, applied to each token."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__(
            nn.Linear(settings.width, settings.feedforward),
            nn.ReLU(inplace=True),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.feedforward, settings.width),
        )


class LocalLayer(nn.Module):
    """Each token attends to its own paragraph (equations 11 and 12 of Liu & Lapata 2019)."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        self.attention = Attention(
            settings.width, settings.heads, settings.attention_dropout, settings.bias
        )
        self.feedforward = FeedForward(settings)
        self.to_attention, self.to_feedforward = Residual(settings), Residual(settings)

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        slot_N, groups = source.slot_in_group_N, source.groups
        x_NW = self.to_attention(
            x_NW, lambda x: self.attention.self_attention_varlen(x, slot_N, groups)
        )
        out_NW: Tensor = self.to_feedforward(x_NW, self.feedforward)
        return out_NW


class TargetSlots(NamedTuple):
    """Target positions in use: indexes into [B, S] flattened, and the same as a mask."""

    slot_Y: Tensor
    is_used_BS: Tensor


class DecoderLayer(nn.Module):
    """Each target token attends to the target before it, then to all source tokens."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        shape = settings.width, settings.heads, settings.attention_dropout, settings.bias
        self.self_attention, self.cross_attention = Attention(*shape), Attention(*shape)
        self.feedforward = FeedForward(settings)
        self.to_self, self.to_cross, self.to_feedforward = (Residual(settings) for _ in range(3))

    def forward(
        self, x_YW: Tensor, slots: TargetSlots, memory: KeysValues, is_source_BL: Tensor
    ) -> Tensor:
        """Return the output for all positions at once, [Y, W]; `memory` comes from `remember`."""
        x_YW = self._look_back(x_YW, slots)
        mask = is_source_BL[:, None, None]
        x_YW = self.to_cross(
            x_YW, lambda x: self.cross_attention.cross_attention_varlen(x, *slots, memory, mask)
        )
        out_YW: Tensor = self.to_feedforward(x_YW, self.feedforward)
        return out_YW

    def step(
        self,
        x_BKW: Tensor,
        cache: KeysValues,
        step: int,
        is_ancestor_BKC: Tensor,
        memory: KeysValues,
        is_source_BL: Tensor,
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
            seen: Tensor = self.self_attention(x_BKW, (keys, values), is_ancestor_BKC[:, None])
            return seen

        mask = is_source_BL[:, None, None]
        x_BKW = self.to_self(x_BKW, look_back)
        x_BKW = self.to_cross(x_BKW, lambda x: self.cross_attention(x, memory, mask))
        out_BKW: Tensor = self.to_feedforward(x_BKW, self.feedforward)
        return out_BKW

    def remember(self, memory_BLW: Tensor) -> KeysValues:
        """Return keys and values of the source, [B, H, L, D], the same for every step."""
        return self.cross_attention.keys_values(memory_BLW)

    def source_weights(
        self, x_YW: Tensor, slots: TargetSlots, memory: KeysValues, is_source_BL: Tensor
    ) -> Tensor:
        """Return how target positions attend to source tokens, [B, H, S, L]."""
        x_YW = self._look_back(x_YW, slots)
        if self.to_cross.pre_norm:
            x_YW = self.to_cross.norm(x_YW)
        x_BSW = pad(x_YW, *slots)
        return self.cross_attention.weights(x_BSW, memory[0], is_source_BL[:, None, None])

    def _look_back(self, x_YW: Tensor, slots: TargetSlots) -> Tensor:
        slot_Y, is_used_BS = slots
        seen_YW: Tensor = self.to_self(
            x_YW,
            lambda x: self.self_attention.self_attention_varlen(
                x, slot_Y, [is_used_BS], causal=True
            ),
        )
        return seen_YW
