"""Every summarizer: an encoder, the decoder over all its tokens, and one table of embeddings.

Letters as in `packing.py`, and W width, S target tokens, Y some of those of all targets, K
hypotheses, V vocabulary.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from wikisum.models.configs import ModelSettings
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.flat_transformer import FlatEncoder
from wikisum.models.network.hierarchical_transformer import HierarchicalEncoder
from wikisum.models.network.layers import NORM_EPSILON, DecoderLayer, KeysValues, Places
from wikisum.models.network.packing import Source, spread
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.products import linear

ENCODERS: dict[str, type[FlatEncoder] | type[HierarchicalEncoder]] = {
    "ft": FlatEncoder,
    "ht": HierarchicalEncoder,
}


class Memory(NamedTuple):
    """What a decoder knows of the source: keys and values [B, H, L, D] a layer, and a mask."""

    layers: list[KeysValues]
    is_source_BL: Tensor

    def rows(self, index: Tensor) -> "Memory":
        """The memory of some examples."""
        layers = [(k.index_select(0, index), v.index_select(0, index)) for k, v in self.layers]
        return Memory(layers, self.is_source_BL.index_select(0, index))


class Summarizer(nn.Module):
    """Encoder-decoder with one table for source, target and output (section 3.2 of L&L 2019)."""

    encoder_norm: nn.Module
    decoder_norm: nn.Module

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        self.scale = math.sqrt(settings.width) if settings.scale_embeddings else 1.0
        self.encoder = ENCODERS[settings.model](settings)
        self.decoder = nn.ModuleList(DecoderLayer(settings) for _ in range(settings.decoder_layers))
        self.dropout = Dropout(settings.dropout)
        self.encoder_norm = _last_norm(settings)
        self.decoder_norm = _last_norm(settings)
        self.output_bias = (
            nn.Parameter(torch.zeros(settings.vocab_size)) if settings.output_bias else None
        )
        self._initialise()

    def _initialise(self) -> None:
        """Xavier's uniform for each matrix; embeddings as they come to unit variance scaled.

        The released form takes Xavier's for its embeddings too.
        """
        for name, parameter in self.named_parameters():
            if name == "embedding.weight" and not self.settings.released:
                nn.init.normal_(parameter, std=self.settings.width**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif parameter.dim() == 3:  # square matrices of each head
                for square in parameter.view(-1, *[parameter.shape[-1]] * 2):
                    nn.init.xavier_uniform_(square)

    def encode(self, source: Source) -> Memory:
        """What the decoder needs of a source."""
        return self.remember(self.encode_tokens(source), source)

    def encode_tokens(self, source: Source) -> Tensor:
        """[N, W] the encoded source tokens."""
        encoded: Tensor = self.encoder_norm(self.encoder(self._embedded(source.id_N), source))
        return encoded

    def remember(self, encoded_NW: Tensor, source: Source) -> Memory:
        """The memory of encoded tokens."""
        memory_BLW = spread(encoded_NW, source.slot_in_example_N, source.is_source_BL)
        return Memory([layer.remember(memory_BLW) for layer in self._layers()], source.is_source_BL)

    def decode(self, target_BS: Tensor, memory: Memory, slot_Y: Tensor | None = None) -> Tensor:
        """[Y, W] for some places of targets, all that tells the next token.

        Targets start with a begin. The slots are places in [B, S] laid flat, rising; what stands
        before a place in its target must be among them. Without slots it is [B, S, W] for all.
        """
        x_YW, places = self._placed(target_BS, slot_Y)
        for layer, keys_values in zip(self._layers(), memory.layers, strict=True):
            x_YW = layer(x_YW, places, keys_values, memory.is_source_BL)
        decoded_YW: Tensor = self.decoder_norm(x_YW)
        return decoded_YW if slot_Y is not None else decoded_YW.view(*target_BS.shape, -1)

    def forward(self, source: Source, target_BS: Tensor, slot_Y: Tensor | None = None) -> Tensor:
        """As `decode`: for the loss, which knows the output table."""
        return self.decode(target_BS, self.encode(source), slot_Y)

    def step(
        self,
        token_BK: Tensor,
        step: int,
        caches: list[KeysValues],
        is_ancestor_BKC: Tensor,
        memory: Memory,
    ) -> Tensor:
        """[B, K, V] logits of the next token of K hypotheses; see `DecoderLayer.step`."""
        x_BKW = self._embedded(token_BK)
        x_BKW = self.dropout(x_BKW + sinusoids(step + 1, x_BKW.shape[-1])[step].to(x_BKW))
        layers = zip(self._layers(), caches, memory.layers, strict=True)
        for layer, cache, keys_values in layers:
            x_BKW = layer.step(
                x_BKW, cache, step, is_ancestor_BKC, keys_values, memory.is_source_BL
            )
        return self.logits(self.decoder_norm(x_BKW))

    def empty_caches(self, batch: int, beam: int, steps: int) -> list[KeysValues]:
        """Room for the keys and values of `steps` steps of a search."""
        heads = self.settings.heads
        shape = batch, heads, steps * beam, self.settings.width // heads
        like = self.embedding.weight
        return [(like.new_zeros(shape), like.new_zeros(shape)) for _ in self.decoder]

    def logits(self, decoded: Tensor) -> Tensor:
        """[..., V] logits of the next token."""
        return linear(decoded, self.embedding.weight, self.output_bias)

    @torch.no_grad()
    def source_weights(self, target_BS: Tensor, memory: Memory) -> Tensor:
        """[B, S, L] attention of target places to source tokens, the mean of layers and heads."""
        x_YW, places = self._placed(target_BS, None)
        found = []
        for layer, keys_values in zip(self._layers(), memory.layers, strict=True):
            given = x_YW, places, keys_values, memory.is_source_BL
            found.append(layer.source_weights(*given).mean(1))
            x_YW = layer(*given)
        return torch.stack(found).mean(0)

    def _layers(self) -> Iterator[DecoderLayer]:
        return (cast(DecoderLayer, layer) for layer in self.decoder)

    def _embedded(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.embedding(ids) * self.scale
        return embedded

    def _placed(self, target_BS: Tensor, slot_Y: Tensor | None) -> tuple[Tensor, Places]:
        """[Y, W] the embeddings of some target places (or all) with their positions."""
        if slot_Y is None:
            slot_Y = torch.arange(target_BS.numel(), device=target_BS.device)
        is_place = torch.zeros_like(target_BS, dtype=torch.bool).flatten().index_fill_(0, slot_Y, 1)
        embedded_YW = self._embedded(target_BS.flatten().index_select(0, slot_Y))
        table_SW = sinusoids(target_BS.shape[1], self.settings.width).to(embedded_YW)
        placed_YW: Tensor = self.dropout(embedded_YW + table_SW[slot_Y % target_BS.shape[1]])
        return placed_YW, Places(slot_Y, is_place.view_as(target_BS))


def _last_norm(settings: ModelSettings) -> nn.Module:
    """What ends a stack: layers that normalise before their steps leave their sum as it is."""
    return nn.LayerNorm(settings.width, NORM_EPSILON) if settings.pre_norm else nn.Identity()


def parameter_count(model: nn.Module) -> int:
    """How many numbers the model learns, shared ones once."""
    return sum(p.numel() for p in model.parameters())
