"""Decoder-only models: T-D and T-DMCA (Liu et al. 2018, section 4.2), Transformer-XL.

One sequence has the source, a separator and the target. Letters as in `sequences.py`, and W width,
Y labels, V vocabulary, K hypotheses.
"""

import math
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.decoder_only.attention import CompressedAttention, FullAttention, LocalAttention
from wikisum.models.decoder_only.caches import Cache
from wikisum.models.decoder_only.experts import Experts
from wikisum.models.decoder_only.feedforward import DenseFeedForward, SeparableFeedForward
from wikisum.models.decoder_only.gating import Gates
from wikisum.models.decoder_only.presets import PRESETS
from wikisum.models.decoder_only.relative_attention import RelativeAttention
from wikisum.models.decoder_only.sequences import SEPARATOR, Layout, Sequences, from_batch, prompts
from wikisum.models.decoder_only.settings import (
    COMPRESSED,
    DENSE,
    EXPERTS,
    FULL,
    LOCAL,
    RECURRENT,
    SEPARABLE,
    DecoderOnlySettings,
)
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.layers import NORM_EPSILON, Residual
from wikisum.models.network.loss import CrossEntropy, cross_entropy, label_log_probabilities
from wikisum.models.network.packing import Batch, Source
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.spec import Figure, Loss, ModelSpec, SummaryModel
from wikisum.models.sources import FLAT
from wikisum.ranker.data.vocab import PAD

ATTENTION: dict[str, Any] = {
    FULL: FullAttention,
    LOCAL: LocalAttention,
    COMPRESSED: CompressedAttention,
    RECURRENT: RelativeAttention,
}
FEEDFORWARD: dict[str, Any] = {
    DENSE: DenseFeedForward,
    SEPARABLE: SeparableFeedForward,
    EXPERTS: Experts,
}


class SearchState:
    """What a search knows after some steps: a cache of each part of each layer."""

    def __init__(
        self, caches: list[tuple[Cache, Cache]], prompt_length_B: Tensor, positions: Tensor | None
    ) -> None:
        self.caches, self.prompt_length_B, self.step = caches, prompt_length_B, 0
        self.positions = positions  # [positions, W], for models that add them to the input

    def reorder(self, parent_BK: Tensor) -> None:
        """Let each hypothesis continue the past of its parent."""
        self.caches = [(a.reordered(parent_BK), f.reordered(parent_BK)) for a, f in self.caches]

    def select(self, example_B: Tensor) -> None:
        """Keep some examples."""
        self.caches = [(a.rows(example_B), f.rows(example_B)) for a, f in self.caches]
        self.prompt_length_B = self.prompt_length_B[example_B]


class CausalLayer(nn.Module):
    """Attention to earlier tokens, then a feed-forward part; both with residual and norm."""

    def __init__(self, settings: DecoderOnlySettings, attention: str, feedforward: str) -> None:
        super().__init__()
        self.attention = ATTENTION[attention](settings)
        self.feedforward = FEEDFORWARD[feedforward](settings)
        self.to_attention, self.to_feedforward = Residual(settings), Residual(settings)

    def forward(self, x_NW: Tensor, layout: Layout, *shared: Tensor) -> tuple[Tensor, Gates | None]:
        """[N, W] the layer's output, and the gates of a mixture of experts."""
        gates = None

        def feedforward(x_NW: Tensor) -> Tensor:
            nonlocal gates
            found = self.feedforward(x_NW, layout)
            if isinstance(self.feedforward, Experts):
                found, gates = found
            return found

        x_NW = self.to_attention(x_NW, lambda x: self.attention(x, layout, *shared))
        x_NW = self.to_feedforward(x_NW, feedforward)
        return x_NW, gates

    def start(
        self, x_NW: Tensor, layout: Layout, beam: int, steps: int, *shared: Tensor
    ) -> tuple[Tensor, tuple[Cache, Cache]]:
        """[N, W] the output for prompts, and the caches of both parts after them."""
        caches: list[Cache] = []

        def attention(x_NW: Tensor) -> Tensor:
            caches.append(self.attention.start(x_NW, layout, beam, steps))
            return self.attention(x_NW, layout, *shared)

        def feedforward(x_NW: Tensor) -> Tensor:
            caches.append(self.feedforward.start(x_NW, layout, beam))
            found = self.feedforward(x_NW, layout)
            return found[0] if isinstance(found, tuple) else found

        x_NW = self.to_feedforward(self.to_attention(x_NW, attention), feedforward)
        return x_NW, (caches[0], caches[1])

    def step(
        self,
        x_BKW: Tensor,
        caches: tuple[Cache, Cache],
        position_B: Tensor,
        step: int,
        *shared: Tensor,
    ) -> Tensor:
        """[B, K, W] the output for one more token of each hypothesis; caches change in place."""
        of_attention, of_feedforward = caches
        x_BKW = self.to_attention(
            x_BKW, lambda x: self.attention.step(x, of_attention, position_B, step, *shared)
        )
        return self.to_feedforward(x_BKW, lambda x: self.feedforward.step(x, of_feedforward))


class DecoderOnly(SummaryModel):
    """A stack of causal layers over one sequence, with one table for input and output."""

    relative_biases: Tensor
    input_norm: nn.Module
    last_norm: nn.Module

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        self.scale = math.sqrt(settings.width) if settings.scale_embeddings else 1.0
        self.dropout = Dropout(settings.dropout)
        kinds = zip(settings.layers, settings.feedforward_of_layer, strict=True)
        self.layers = nn.ModuleList(CausalLayer(settings, *kind) for kind in kinds)
        self.input_norm = self._norm(settings.input_norm)
        self.last_norm = self._norm(settings.pre_norm)
        self.is_recurrent = RECURRENT in settings.layers
        if self.is_recurrent:  # u and v of `RelativeAttention`
            head = settings.width // settings.heads
            self.relative_biases = nn.Parameter(torch.empty(2, settings.heads, head))
        self.output_bias = (
            nn.Parameter(torch.zeros(settings.vocab_size)) if settings.output_bias else None
        )
        self._initialize()

    def _norm(self, is_wanted: bool) -> nn.Module:
        width = self.settings.width
        return nn.LayerNorm(width, NORM_EPSILON) if is_wanted else nn.Identity()

    def _initialize(self) -> None:
        """Xavier's uniform for each matrix; embeddings have unit variance once scaled."""
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.embedding.weight, std=self.settings.width**-0.5)
        for module in self.modules():
            if isinstance(module, Experts):
                module.reset_parameters()
        if self.is_recurrent:
            nn.init.normal_(self.relative_biases, std=0.02)

    def decode(self, sequences: Sequences) -> tuple[Tensor, list[Gates]]:
        """[N, W] what tells the next token at each position, and the gates of expert layers."""
        layout = Layout(sequences.lengths, sequences.id_N.device)
        x_NW = self._embedded(sequences.id_N, layout)
        gates = []
        for layer in self._causal_layers():
            x_NW, chosen = layer(x_NW, layout, *self._shared())
            if chosen is not None:
                gates.append(chosen)
        return self.last_norm(x_NW), gates

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """The loss of target labels and, in training with `source_loss`, of all labels.

        The terms that balance experts count once per label, so that they keep their weight when
        the total is divided by the number of labels.
        """
        sequences = from_batch(batch)
        x_NW, gates = self.decode(sequences)
        target_Y = sequences.is_target_N.nonzero().squeeze(1)
        target = self._cross_entropy(x_NW, sequences.label_N, target_Y, smoothing)
        total, count, figures = target.smoothed, len(target_Y), {}
        if self.training and self.settings.source_loss:
            is_source_N = ~sequences.is_target_N
            if not self.settings.separator_loss:
                is_source_N &= sequences.label_N != SEPARATOR
            source_Y = is_source_N.nonzero().squeeze(1)
            source = self._cross_entropy(x_NW, sequences.label_N, source_Y, smoothing)
            total, count = total + source.smoothed, count + len(source_Y)
            figures["source_loss"] = Figure(source.plain, len(source_Y))
        if self.training and gates:
            imbalance = torch.stack([one.imbalance() for one in gates]).sum()
            total = total + count * self.settings.balance * imbalance
            figures["expert_imbalance"] = Figure(imbalance.detach(), 1)
        return Loss(total, count, target.plain, figures)

    def _cross_entropy(
        self, x_NW: Tensor, label_N: Tensor, at_Y: Tensor, smoothing: float
    ) -> CrossEntropy:
        table, bias = self.embedding.weight, self.output_bias
        return cross_entropy(
            x_NW.index_select(0, at_Y), table, bias, label_N.index_select(0, at_Y), smoothing
        )

    def encode(self, source: Source) -> Source:
        """The source itself: it is read as the beginning of each sequence."""
        return source

    def log_probabilities(self, batch: Batch, memory: Source) -> Tensor:
        """[Y] the log-probability of each target label."""
        sequences = from_batch(batch)
        x_YW = self.decode(sequences)[0][sequences.is_target_N]
        return label_log_probabilities(x_YW, self.embedding.weight, self.output_bias, batch.label_Y)

    def start(self, memory: Source, beam: int, max_steps: int) -> SearchState:
        """The state of a search after the sources, with room for `max_steps` tokens."""
        sequences = prompts(memory)
        layout = Layout(sequences.lengths, sequences.id_N.device)
        x_NW = self._embedded(sequences.id_N, layout)
        caches = []
        for layer in self._causal_layers():
            x_NW, cache = layer.start(x_NW, layout, beam, max_steps, *self._shared())
            caches.append(cache)
        table = None if self.is_recurrent else self._positions(layout.longest + max_steps)
        return SearchState(caches, layout.length_B, table)

    def step(self, token_BK: Tensor, state: SearchState) -> Tensor:
        """[B, K, V] logits of the next token of K hypotheses; the first token is the separator."""
        position_B = state.prompt_length_B + state.step
        x_BKW = self.embedding(token_BK) * self.scale
        if state.positions is not None:
            x_BKW = x_BKW + state.positions[position_B][:, None]
        x_BKW = self.input_norm(self.dropout(x_BKW))
        for layer, caches in zip(self._causal_layers(), state.caches, strict=True):
            x_BKW = layer.step(x_BKW, caches, position_B, state.step, *self._shared())
        state.step += 1
        return self.logits(self.last_norm(x_BKW))

    def source_attention(self, batch: Batch, memory: Source) -> Tensor:
        """[B, S, L] how target positions attend to source tokens, the mean of layers and heads.

        What they attend to elsewhere is left out, and the rest scaled to a sum of 1. A position
        that sees nothing of the source gets equal weights.
        """
        sequences = from_batch(batch)
        is_source_BL = batch.source.is_source_BL
        counts = is_source_BL.sum(1).tolist()
        weight_BSL = torch.zeros(*batch.target_BS.shape, is_source_BL.shape[1]).to(
            is_source_BL.device
        )
        layout = Layout(sequences.lengths, sequences.id_N.device)
        x_NW = self._embedded(sequences.id_N, layout)
        for layer in self._causal_layers():
            norm = layer.to_attention.norm if self.settings.pre_norm else nn.Identity()
            parts = norm(x_NW).split(sequences.lengths)
            for found_SL, part_TW, count in zip(weight_BSL, parts, counts, strict=True):
                seen = layer.attention.weights_from(part_TW, count + 1, *self._shared())
                found_SL[: len(seen), :count] += seen[:, 1 : count + 1]
            x_NW, _ = layer(x_NW, layout, *self._shared())
        sum_BS1 = weight_BSL.sum(-1, keepdim=True)
        even_BSL = (is_source_BL / is_source_BL.sum(1, keepdim=True))[:, None]
        return torch.where(sum_BS1 > 0, weight_BSL / sum_BS1.clamp(min=1e-30), even_BSL)

    def logits(self, x: Tensor) -> Tensor:
        """[..., V] logits of the next token."""
        return F.linear(x, self.embedding.weight, self.output_bias)

    def layers_to_shard(self) -> list[nn.Module]:
        """Return the layers."""
        return list(self.layers)

    layers_to_checkpoint = layers_to_shard

    def _causal_layers(self) -> Iterator[CausalLayer]:
        return (cast(CausalLayer, layer) for layer in self.layers)

    def _shared(self) -> tuple[Tensor, ...]:
        return (self.relative_biases,) if self.is_recurrent else ()

    def _embedded(self, id_N: Tensor, layout: Layout) -> Tensor:
        """[N, W] the input of the first layer; padding ids, which begin sequences, are zeros."""
        x_NW = (self.embedding(id_N) * self.scale).masked_fill((id_N == PAD)[:, None], 0.0)
        if not self.is_recurrent:
            x_NW = x_NW + self._positions(layout.longest)[layout.position_N]
        return self.input_norm(self.dropout(x_NW))

    def _positions(self, count: int) -> Tensor:
        return sinusoids(count, self.settings.width).to(self.embedding.weight)


SPEC = ModelSpec(
    name="decoder-only",
    settings=DecoderOnlySettings,
    build=DecoderOnly,
    source=FLAT,
    presets=PRESETS,
    joined=True,
)
