"""Transformers with an encoder, a decoder over all source tokens, and one table of embeddings.

Letters as in `packing.py`, and W width, S target positions, Y some of those of all targets, K
hypotheses, C cached positions, V vocabulary.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.network.dropout import Dropout
from wikisum.models.network.layers import NORM_EPSILON, DecoderLayer, KeysValues, TargetSlots
from wikisum.models.network.loss import cross_entropy, label_log_probabilities
from wikisum.models.network.packing import Batch, Source, pad
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.settings import EncoderDecoderSettings
from wikisum.models.network.spec import Loss, SummaryModel


class Memory(NamedTuple):
    """The encoded source of so many examples, as each decoder layer keeps it."""

    layers: list[Any]
    examples: int

    def rows(self, index: Tensor) -> "Memory":
        """Return the memory of some examples, whose numbers rise."""
        return Memory([layer.rows(index) for layer in self.layers], len(index))


class BeamState:
    """The decoding state: the memory, and keys and values of the steps so far.

    The cache [B, H, steps * K, D] is never moved. Instead each hypothesis remembers in which of
    the K slots of every step its past lies (`slot_BKS`), and its attention is masked to those.
    """

    def __init__(self, memory: Memory, caches: list[KeysValues], beam: int) -> None:
        self.memory, self.caches = memory, caches
        shape = memory.examples, beam, 0
        self.slot_BKS = torch.zeros(shape, dtype=torch.long, device=caches[0][0].device)

    def advance(self) -> tuple[int, Tensor]:
        """Begin a step; return its number and [B, K, C], which cached positions may be seen."""
        batch, beam, step = self.slot_BKS.shape
        own_K = torch.arange(beam, device=self.slot_BKS.device)
        newest_BK1 = own_K.expand(batch, beam)[..., None]
        self.slot_BKS = torch.cat([self.slot_BKS, newest_BK1], -1)
        return step, (self.slot_BKS[..., None] == own_K).flatten(2)

    def reorder(self, parent_BK: Tensor) -> None:
        """Let each hypothesis continue the past of its parent."""
        index_BKS = parent_BK[..., None].expand(-1, -1, self.slot_BKS.shape[-1])
        self.slot_BKS = self.slot_BKS.gather(1, index_BKS)

    def select(self, example_B: Tensor) -> None:
        """Keep some examples."""
        self.memory = self.memory.rows(example_B)
        self.slot_BKS = self.slot_BKS[example_B]
        self.caches = [(keys[example_B], values[example_B]) for keys, values in self.caches]


class EncoderDecoder(SummaryModel):
    """Encoder-decoder with one table for source, target and output (section 3.2 of L&L 2019).

    `encoder` turns embedded tokens [N, W] and their Source into encoded tokens [N, W]; its layers
    are in `encoder.layers`. `cross_attention` makes the attention to the source of a decoder layer.
    """

    encoder_norm: nn.Module
    decoder_norm: nn.Module

    def __init__(
        self,
        settings: EncoderDecoderSettings,
        encoder: nn.Module,
        xavier_embeddings: bool = False,
        cross_attention: Callable[[], nn.Module | None] = lambda: None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        self.scale = math.sqrt(settings.width) if settings.scale_embeddings else 1.0
        self.encoder = encoder
        self.decoder = nn.ModuleList(
            DecoderLayer(settings, cross_attention()) for _ in range(settings.decoder_layers)
        )
        self.dropout = Dropout(settings.dropout)
        self.encoder_norm = _last_norm(settings)
        self.decoder_norm = _last_norm(settings)
        self.output_bias = (
            nn.Parameter(torch.zeros(settings.vocab_size)) if settings.output_bias else None
        )
        sizes = settings.vocab_size, settings.width
        self.output = None if settings.tie_output else nn.Parameter(torch.empty(sizes))
        self._initialize(xavier_embeddings)

    def _initialize(self, xavier_embeddings: bool) -> None:
        """Xavier uniform for every matrix; embeddings get unit variance after scaling.

        The authors' released code uses Xavier for its embeddings too (`xavier_embeddings`).
        """
        for name, parameter in self.named_parameters():
            if name == "embedding.weight" and not xavier_embeddings:
                nn.init.normal_(parameter, std=self.settings.width**-0.5)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            elif parameter.dim() == 3:  # square matrices of each head
                for square in parameter.view(-1, *[parameter.shape[-1]] * 2):
                    nn.init.xavier_uniform_(square)

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """Return the cross-entropy of the target labels, [1 - smoothing, rest evenly]."""
        x_YW = self.decode(batch.target_BS, self.encode(batch.source), batch.label_slot_Y)
        label_Y = batch.label_Y
        sums = cross_entropy(x_YW, self.output_table, self.output_bias, label_Y, smoothing)
        return Loss(sums.smoothed, label_Y.numel(), sums.plain)

    def encode(self, source: Source) -> Memory:
        """Return the keys and values of the encoded source for every decoder layer."""
        return self.remember(self.encode_tokens(source), source)

    def encode_tokens(self, source: Source) -> Tensor:
        """Return the encoded source tokens, [N, W]."""
        return self.encoder_norm(self.encoder(self._embedded(source.id_N), source))

    def remember(self, encoded_NW: Tensor, source: Source) -> Memory:
        """Return the memory of encoded tokens."""
        memory_BLW = pad(encoded_NW, source.slot_in_example_N, source.is_source_BL)
        is_source_BL = source.is_source_BL
        layers = [x.cross_attention.remember(memory_BLW, is_source_BL) for x in self._layers()]
        return Memory(layers, len(is_source_BL))

    def decode(self, target_BS: Tensor, memory: Memory, slot_Y: Tensor | None = None) -> Tensor:
        """Return decoder outputs [Y, W] for some target positions, from which logits are made.

        `slot_Y` are rising positions in [B, S] flattened; what precedes a position in its target
        must be among them. Without it, the output is [B, S, W] for all positions.
        """
        x_YW, slots = self._positioned(target_BS, slot_Y)
        for layer, layer_memory in zip(self._layers(), memory.layers, strict=True):
            x_YW = layer(x_YW, slots, layer_memory)
        decoded_YW: Tensor = self.decoder_norm(x_YW)
        return decoded_YW if slot_Y is not None else decoded_YW.view(*target_BS.shape, -1)

    def log_probabilities(self, batch: Batch, memory: Memory) -> Tensor:
        """Return the log-probability of each target label, [Y]."""
        decoded_YW = self.decode(batch.target_BS, memory, batch.label_slot_Y)
        return label_log_probabilities(
            decoded_YW, self.output_table, self.output_bias, batch.label_Y
        )

    def start(self, memory: Memory, beam: int, max_steps: int) -> BeamState:
        """Return the state before the first step, with room for `max_steps` steps."""
        heads = self.settings.heads
        shape = memory.examples, heads, max_steps * beam, self.settings.width // heads
        like = self.embedding.weight
        caches = [(like.new_zeros(shape), like.new_zeros(shape)) for _ in self.decoder]
        return BeamState(memory, caches, beam)

    def step(self, token_BK: Tensor, state: BeamState) -> Tensor:
        """Return the logits of the next token of each hypothesis, [B, K, V]."""
        step, is_ancestor_BKC = state.advance()
        x_BKW = self._embedded(token_BK)
        x_BKW = self.dropout(x_BKW + sinusoids(step + 1, x_BKW.shape[-1])[step].to(x_BKW))
        layers = zip(self._layers(), state.caches, state.memory.layers, strict=True)
        for layer, cache, layer_memory in layers:
            x_BKW = layer.step(x_BKW, cache, step, is_ancestor_BKC, layer_memory)
        return self.logits(self.decoder_norm(x_BKW))

    def logits(self, decoded: Tensor) -> Tensor:
        """Return the logits of the next token, [..., V]."""
        return F.linear(decoded, self.output_table, self.output_bias)

    @property
    def output_table(self) -> Tensor:
        """The vectors that logits are products with, [V, W]."""
        return self.embedding.weight if self.output is None else self.output

    def source_attention(self, batch: Batch, memory: Memory) -> Tensor:
        """Return the attention of target positions to source tokens, [B, S, L]."""
        x_YW, slots = self._positioned(batch.target_BS, None)
        weights = []
        for layer, layer_memory in zip(self._layers(), memory.layers, strict=True):
            weights.append(layer.source_weights(x_YW, slots, layer_memory))
            x_YW = layer(x_YW, slots, layer_memory)
        return torch.stack(weights).mean(0)

    def layers_to_compile(self) -> list[nn.Module]:
        """Return the layers of encoder and decoder."""
        return [*cast(nn.ModuleList, self.encoder.layers), *self.decoder]

    def layers_to_shard(self) -> list[nn.Module]:
        """Return the layers of the encoder; those of the decoder have more than one method."""
        return list(cast(nn.ModuleList, self.encoder.layers))

    def _layers(self) -> Iterator[DecoderLayer]:
        return (cast(DecoderLayer, layer) for layer in self.decoder)

    def _embedded(self, ids: Tensor) -> Tensor:
        return self.embedding(ids) * self.scale

    def _positioned(self, target_BS: Tensor, slot_Y: Tensor | None) -> tuple[Tensor, TargetSlots]:
        """Return embeddings plus positions of some target positions (or all), [Y, W]."""
        if slot_Y is None:
            slot_Y = torch.arange(target_BS.numel(), device=target_BS.device)
        is_used = torch.zeros_like(target_BS, dtype=torch.bool).flatten().index_fill_(0, slot_Y, 1)
        embedded_YW = self._embedded(target_BS.flatten().index_select(0, slot_Y))
        table_SW = sinusoids(target_BS.shape[1], self.settings.width).to(embedded_YW)
        x_YW: Tensor = self.dropout(embedded_YW + table_SW[slot_Y % target_BS.shape[1]])
        return x_YW, TargetSlots(slot_Y, is_used.view_as(target_BS))


def _last_norm(settings: EncoderDecoderSettings) -> nn.Module:
    """Return the norm that ends a stack: pre-norm layers leave their sum unnormalized."""
    return nn.LayerNorm(settings.width, NORM_EPSILON) if settings.pre_norm else nn.Identity()
