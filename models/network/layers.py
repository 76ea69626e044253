"""What every transformer here is built of: residual steps, encoder and decoder layers.

Letters as in `packing.py`, and W width, S target tokens, Y real ones of all targets, H heads, D
width of a head.
"""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from wikisum.models.configs import ModelSettings
from wikisum.models.network.attention import Attention
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.packing import Source, spread
from wikisum.models.network.products import Linear

NORM_EPSILON = 1e-6
KeysValues = tuple[Tensor, Tensor]


class Residual(nn.Module):
    """x + f(x) with layer normalisation: after the sum (the papers) or before f (`pre_norm`)."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width, NORM_EPSILON)
        self.dropout = Dropout(settings.dropout)
        self.pre_norm = settings.pre_norm

    def forward(self, x: Tensor, step: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre_norm:
            out: Tensor = x + self.dropout(step(self.norm(x)))
        else:
            out = self.norm(x + self.dropout(step(x)))
        return out


class FeedForward(nn.Sequential):
    """Two linear layers with ReLU between them, token by token."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__(
            Linear(settings.width, settings.feedforward),
            nn.ReLU(inplace=True),
            Dropout(settings.dropout),
            Linear(settings.feedforward, settings.width),
        )


class LocalLayer(nn.Module):
    """Each token looks at its own paragraph (equations 11 and 12 of Liu & Lapata 2019)."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.attention = Attention(
            settings.width, settings.heads, settings.attention_dropout, settings.bias
        )
        self.feedforward = FeedForward(settings)
        self.to_attention, self.to_feedforward = Residual(settings), Residual(settings)

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        slot_N, groups = source.slot_in_group_N, source.groups
        x_NW = self.to_attention(x_NW, lambda x: self.attention.within_rows(x, slot_N, groups))
        out_NW: Tensor = self.to_feedforward(x_NW, self.feedforward)
        return out_NW


class Places(NamedTuple):
    """Where the places of targets that are worked on stand in [B, S] laid flat; which they are."""

    slot_Y: Tensor
    is_place_BS: Tensor


class DecoderLayer(nn.Module):
    """Each target token looks back at the target, then at all source tokens."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        shape = settings.width, settings.heads, settings.attention_dropout, settings.bias
        self.self_attention, self.cross_attention = Attention(*shape), Attention(*shape)
        self.feedforward = FeedForward(settings)
        self.to_self, self.to_cross, self.to_feedforward = (Residual(settings) for _ in range(3))

    def forward(
        self, x_YW: Tensor, places: Places, memory: KeysValues, is_source_BL: Tensor
    ) -> Tensor:
        """[Y, W] all places at once; `memory` is what `remember` gave."""
        x_YW = self._look_back(x_YW, places)
        may_see = is_source_BL[:, None, None]
        x_YW = self.to_cross(
            x_YW, lambda x: self.cross_attention.from_rows(x, *places, memory, may_see)
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
        """[B, K, W] one more place of K hypotheses an example.

        The cache [B, H, steps * K, D] takes the new keys in the K places of this step and is
        never moved: `is_ancestor_BKC` (C the places up to this step's) tells what each hypothesis
        goes back to.
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

        may_see = is_source_BL[:, None, None]
        x_BKW = self.to_self(x_BKW, look_back)
        x_BKW = self.to_cross(x_BKW, lambda x: self.cross_attention(x, memory, may_see))
        out_BKW: Tensor = self.to_feedforward(x_BKW, self.feedforward)
        return out_BKW

    def remember(self, memory_BLW: Tensor) -> KeysValues:
        """Keys and values of the source, [B, H, L, D], the same for every step."""
        return self.cross_attention.keys_values(memory_BLW)

    def source_weights(
        self, x_YW: Tensor, places: Places, memory: KeysValues, is_source_BL: Tensor
    ) -> Tensor:
        """[B, H, S, L] how target places, as `forward` gets them, attend to source tokens."""
        x_YW = self._look_back(x_YW, places)
        if self.to_cross.pre_norm:
            x_YW = self.to_cross.norm(x_YW)
        x_BSW = spread(x_YW, *places)
        return self.cross_attention.weights(x_BSW, memory[0], is_source_BL[:, None, None])

    def _look_back(self, x_YW: Tensor, places: Places) -> Tensor:
        slot_Y, is_place_BS = places
        seen_YW: Tensor = self.to_self(
            x_YW, lambda x: self.self_attention.within_rows(x, slot_Y, [is_place_BS], causal=True)
        )
        return seen_YW
