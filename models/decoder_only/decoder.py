"""Decoder-only models: T-D and T-DMCA (Liu et al. 2018, section 4.2), Transformer-XL.

One sequence has the source, a separator and the target. Letters as in `sequences.py`, and W width,
Y labels, V vocabulary, K hypotheses.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.decoder_only.attention import (
    CompressedAttention,
    FullAttention,
    LocalAttention,
)
from wikisum.models.decoder_only.caches import Cache
from wikisum.models.decoder_only.experts import Experts, Gates
from wikisum.models.decoder_only.feedforward import DenseFeedForward, SeparableFeedForward
from wikisum.models.decoder_only.relative_attention import RelativeAttention
from wikisum.models.decoder_only.sequences import SEPARATOR, Layout, Sequences
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
from wikisum.models.network.loss import cross_entropy
from wikisum.models.network.positions import sinusoids
from wikisum.ranker.data.vocab import PAD

NORM_EPSILON = 1e-6
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


class SequenceLoss(NamedTuple):
    """Sums over labels in nats: what is trained on, and the plain loss of target labels."""

    trained: Tensor
    trained_labels: int
    plain: Tensor
    target_labels: int


class DecodingState(NamedTuple):
    """What a search knows after some steps: a cache of each part of each layer."""

    caches: list[tuple[Cache, Cache]]
    prompt_length_B: Tensor
    step: int
    positions: Tensor | None  # [positions, W], for models that add them to the input

    def reordered(self, parent_BK: Tensor) -> "DecodingState":
        """The state after hypothesis k of each example has become a copy of its parent."""
        caches = [(a.reordered(parent_BK), f.reordered(parent_BK)) for a, f in self.caches]
        return self._replace(caches=caches)

    def rows(self, kept: Tensor) -> "DecodingState":
        """The state of some examples."""
        caches = [(a.rows(kept), f.rows(kept)) for a, f in self.caches]
        return self._replace(caches=caches, prompt_length_B=self.prompt_length_B[kept])


class Residual(nn.Module):
    """x + f(x) with layer normalization: after the sum (the papers) or before f (`pre_norm`)."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width, NORM_EPSILON)
        self.dropout = nn.Dropout(settings.dropout)
        self.pre_norm = settings.pre_norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """The sum, normalized or not."""
        if self.pre_norm:
            out: Tensor = x + self.dropout(sublayer(self.norm(x)))
        else:
            out = self.norm(x + self.dropout(sublayer(x)))
        return out


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
            return found  # type: ignore[no-any-return]

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
            return self.attention(x_NW, layout, *shared)  # type: ignore[no-any-return]

        def feedforward(x_NW: Tensor) -> Tensor:
            caches.append(self.feedforward.start(x_NW, layout, beam))
            found = self.feedforward(x_NW, layout)
            return found[0] if isinstance(found, tuple) else found  # type: ignore[no-any-return]

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
        out: Tensor = self.to_feedforward(x_BKW, lambda x: self.feedforward.step(x, of_feedforward))
        return out


class DecoderOnly(nn.Module):
    """A stack of causal layers over one sequence, with one table for input and output."""

    relative_biases: Tensor
    input_norm: nn.Module
    last_norm: nn.Module

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        self.scale = math.sqrt(settings.width) if settings.scale_embeddings else 1.0
        self.dropout = nn.Dropout(settings.dropout)
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

    def forward(self, sequences: Sequences) -> tuple[Tensor, list[Gates]]:
        """[N, W] what tells the next token at each place, and the gates of expert layers."""
        layout = Layout(sequences.lengths, sequences.id_N.device)
        x_NW = self._embedded(sequences.id_N, layout)
        gates = []
        for layer in self._causal_layers():
            x_NW, chosen = layer(x_NW, layout, *self._shared())
            if chosen is not None:
                gates.append(chosen)
        return self.last_norm(x_NW), gates

    def loss(self, sequences: Sequences, smoothing: float) -> SequenceLoss:
        """The loss of target labels and, in training with `source_loss`, of all labels.

        The terms that balance experts are added once per label, so that they keep their weight
        when sums are divided by the number of labels.
        """
        x_NW, gates = self(sequences)
        target_Y = sequences.is_target_N.nonzero().squeeze(1)
        target = self._cross_entropy(x_NW, sequences.label_N, target_Y, smoothing)
        trained, count = target.smoothed, len(target_Y)
        if self.training and self.settings.source_loss:
            is_source_N = ~sequences.is_target_N
            if not self.settings.separator_loss:
                is_source_N &= sequences.label_N != SEPARATOR
            source_Y = is_source_N.nonzero().squeeze(1)
            source = self._cross_entropy(x_NW, sequences.label_N, source_Y, smoothing)
            trained, count = trained + source.smoothed, count + len(source_Y)
        for chosen in gates if self.training else []:
            trained = trained + count * self.settings.balance * chosen.imbalance()
        return SequenceLoss(trained, count, target.plain, len(target_Y))

    def _cross_entropy(self, x_NW: Tensor, label_N: Tensor, at_Y: Tensor, smoothing: float) -> Any:
        table, bias = self.embedding.weight, self.output_bias
        return cross_entropy(
            x_NW.index_select(0, at_Y), table, bias, label_N.index_select(0, at_Y), smoothing
        )

    def start(self, prompts: Sequences, beam: int, steps: int) -> DecodingState:
        """The state of a search after prompts (`pack_prompts`), with room for `steps` tokens.

        The first token to give to `step` is the separator.
        """
        layout = Layout(prompts.lengths, prompts.id_N.device)
        x_NW = self._embedded(prompts.id_N, layout)
        caches = []
        for layer in self._causal_layers():
            x_NW, cache = layer.start(x_NW, layout, beam, steps, *self._shared())
            caches.append(cache)
        table = None if self.is_recurrent else self._positions(layout.longest + steps)
        return DecodingState(caches, layout.length_B, 0, table)

    def step(self, token_BK: Tensor, state: DecodingState) -> tuple[Tensor, DecodingState]:
        """([B, K, V] logits of the next token of K hypotheses, the state with this token).

        The caches of the given state are changed in place.
        """
        position_B = state.prompt_length_B + state.step
        x_BKW = self.embedding(token_BK) * self.scale
        if state.positions is not None:
            x_BKW = x_BKW + state.positions[position_B][:, None]
        x_BKW = self.input_norm(self.dropout(x_BKW))
        for layer, caches in zip(self._causal_layers(), state.caches, strict=True):
            x_BKW = layer.step(x_BKW, caches, position_B, state.step, *self._shared())
        logits = self.logits(self.last_norm(x_BKW))
        return logits, state._replace(step=state.step + 1)

    def logits(self, x: Tensor) -> Tensor:
        """[..., V] logits of the next token."""
        return F.linear(x, self.embedding.weight, self.output_bias)

    def _causal_layers(self) -> Iterator[CausalLayer]:
        return (cast(CausalLayer, layer) for layer in self.layers)

    def _shared(self) -> tuple[Tensor, ...]:
        return (self.relative_biases,) if self.is_recurrent else ()

    def _embedded(self, id_N: Tensor, layout: Layout) -> Tensor:
        """[N, W] the input of the first layer; padding ids, which begin sequences, are zeros."""
        x_NW = self.embedding(id_N) * (self.scale * (id_N != PAD)[:, None])
        if not self.is_recurrent:
            x_NW = x_NW + self._positions(layout.longest)[layout.position_N]
        normed: Tensor = self.input_norm(self.dropout(x_NW))
        return normed

    def _positions(self, count: int) -> Tensor:
        return sinusoids(count, self.settings.width).to(self.embedding.weight)
