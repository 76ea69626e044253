"""Pointer-generators: See et al. 2017, and with windows of the source Schueller et al. 2020.

Letters: B examples, L source tokens, S target positions, Q queries (S target positions or K
hypotheses), Y labels, E width of embeddings, A width of the memory, V vocabulary.

An id from V on is a word of the source that the vocabulary lacks, numbered in each example by its
first occurrence. The model embeds it as UNKNOWN and can write it by copying alone. A label that can
be neither generated nor copied from the current window counts as UNKNOWN.

With dynamic windows a shift is written like a token; it is BEGIN (see `pointer/shifts.py`). In the
last window it has no probability.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from wikisum.models.network.dropout import Dropout
from wikisum.models.network.packing import Batch, Source, pad
from wikisum.models.network.spec import Figure, Loss, SummaryModel, TensorState
from wikisum.models.pointer.decoders import BahdanauDecoder, DecoderState, LuongDecoder, Steps
from wikisum.models.pointer.encoder import Encoder, Memory
from wikisum.models.pointer.mixture import (
    OutputLayer,
    copied_log_probabilities,
    final_log_probabilities,
    vocab_log_probabilities,
)
from wikisum.models.pointer.settings import PointerSettings
from wikisum.models.pointer.shifts import SHIFT
from wikisum.models.pointer.windows import batch_shift_steps, window_counts, window_mask
from wikisum.ranker.data.vocab import UNKNOWN


@dataclass
class PointerState(TensorState):
    """The state of decoding; `vocab_size` counts the extended vocabulary of the batch."""

    vocab_size: int = 0


class TargetLogs(NamedTuple):
    """Log-probabilities of labels and their mean over other tokens, [Y]; the decoder's steps."""

    label_Y: Tensor
    others_Y: Tensor
    steps: Steps


class PointerGenerator(SummaryModel):
    """Encoder, decoder, one table of embeddings for source and target, and the output layer."""

    decoder: BahdanauDecoder | LuongDecoder

    def __init__(self, settings: PointerSettings) -> None:
        super().__init__()
        self.settings = settings
        self.embedding = nn.Embedding(settings.vocab_size, settings.embedding)
        nn.init.normal_(self.embedding.weight, std=settings.embedding**-0.5)
        self.dropout = Dropout(settings.dropout)
        self.encoder = Encoder(settings.embedding, settings.width)
        is_luong = settings.attention == "luong"
        self.decoder = LuongDecoder(settings) if is_luong else BahdanauDecoder(settings)
        # Schueller et al. compare with the embeddings; See et al. have a layer with a bias
        self.output = None if is_luong else nn.Linear(settings.width, settings.vocab_size)
        self.writes = frozenset({SHIFT}) if settings.windows == "dynamic" else frozenset()

    @torch.no_grad()
    def use_vectors(self, vector_VE: npt.NDArray[np.float32]) -> None:
        """Take these as first values of the embeddings."""
        self.embedding.weight.copy_(torch.from_numpy(vector_VE))

    def encode(self, source: Source) -> Memory:
        """Return the memory of the sources of a batch."""
        slots = source.slot_in_example_N, source.is_source_BL
        embedded_BLE = pad(self._embedded(source.id_N), *slots)
        value_BLA, hidden_BW, cell_BW = self.encoder(embedded_BLE, source.is_source_BL)
        length_B = source.is_source_BL.sum(1)
        shift_BN = length_B.new_zeros(len(length_B), 0)
        if self.settings.windows == "static":
            shift_BN = batch_shift_steps(length_B, self.settings)
        id_BL = pad(source.id_N[:, None], *slots)[..., 0]
        key_BLA = self.decoder.key(value_BLA)
        return Memory(
            value_BLA, key_BLA, source.is_source_BL, id_BL, hidden_BW, cell_BW, shift_BN
        )  # fmt: skip

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """Return the loss of the target labels, with the coverage loss if there is coverage.

        Label smoothing spreads its share over the vocabulary as the decoder generates it.
        """
        logs = self._target_logs(batch, self.encode(batch.source))
        plain = -logs.label_Y.sum()
        total = (1 - smoothing) * plain - smoothing * logs.others_Y.sum()
        count = batch.label_slot_Y.numel()
        figures = {}
        if self.settings.pointer:
            generate_Y = _at(logs.steps.generate_BQ, batch.label_slot_Y).detach().sigmoid()
            figures["generation_probability"] = Figure(generate_Y.sum(), count)
        if self.settings.coverage:
            again = _at(logs.steps.again_BQ, batch.label_slot_Y).sum()
            total = total + self.settings.coverage_weight * again
            figures["coverage_loss"] = Figure(again.detach(), count)
        return Loss(total, count, plain, figures)

    def log_probabilities(self, batch: Batch, memory: Memory) -> Tensor:
        """Return the log-probability of each target label, [Y]."""
        return self._target_logs(batch, memory).label_Y

    def _target_logs(self, batch: Batch, memory: Memory) -> TargetLogs:
        window_BS = self._windows(batch.target_BS, memory)
        is_seen_BSL = self._is_seen(window_BS, memory)
        embedded_BSE = self._embedded(batch.target_BS)
        steps = self.decoder.sequence(embedded_BSE, memory, is_seen_BSL)
        slot_Y = batch.label_slot_Y
        example_Y = slot_Y // batch.label_BS.shape[1]
        can_copy_YL = _at(is_seen_BSL, slot_Y) & self.settings.pointer
        id_YL, label_Y = memory.id_BL[example_Y], batch.label_Y
        can_be_copied_Y = (can_copy_YL & (id_YL == label_Y[:, None])).any(1)
        is_lost_Y = (label_Y >= self.settings.vocab_size) & ~can_be_copied_Y
        label_Y = label_Y.masked_fill(is_lost_Y, UNKNOWN)
        is_known_Y = label_Y < self.settings.vocab_size
        closed_BS = self._is_closed(window_BS, memory)
        vocab = vocab_log_probabilities(
            _at(steps.x_BQX, slot_Y),
            self._output_layer,
            label_Y.masked_fill(~is_known_Y, UNKNOWN),
            None if closed_BS is None else _at(closed_BS, slot_Y),
        )
        if not self.settings.pointer:
            return TargetLogs(*vocab, steps)
        is_label_YL = can_copy_YL & (id_YL == label_Y[:, None])
        copied_Y = (_at(steps.weight_BQL, slot_Y) * is_label_YL).sum(1)
        label_log_Y = copied_log_probabilities(
            vocab.label_Y,
            _at(steps.generate_BQ, slot_Y),
            copied_Y,
            can_copy_Y=is_label_YL.any(1),
            can_generate_Y=is_known_Y,
        )
        return TargetLogs(label_log_Y, vocab.others_Y, steps)

    def start(self, memory: Memory, beam: int, max_steps: int) -> PointerState:
        """Return the state before the first step; dynamic windows begin one before the first."""
        mine = self.decoder.start(memory, beam)._asdict()
        mine["window_BK"] = memory.id_BL.new_full((len(memory.id_BL), beam), -1)
        vocab_size = self.settings.vocab_size
        if self.settings.pointer:
            vocab_size = max(vocab_size, int(memory.id_BL.max()) + 1)
        return PointerState(mine, memory._asdict(), vocab_size=vocab_size)

    def step(self, token_BK: Tensor, state: PointerState) -> Tensor:
        """Return log-probabilities of the next token over the extended vocabulary."""
        memory = Memory(**state.per_example)
        before = dict(state.per_hypothesis)
        window_BK = self._next_windows(before.pop("window_BK"), token_BK, memory, state.step)
        embedded_BKE, is_seen_BKL = self._embedded(token_BK), self._is_seen(window_BK, memory)
        steps, after = self.decoder.step(embedded_BKE, DecoderState(**before), memory, is_seen_BKL)
        state.per_hypothesis = {**after._asdict(), "window_BK": window_BK}
        state.step += 1
        log_BKV = self._output_layer.log_probabilities(
            steps.x_BQX, self._is_closed(window_BK, memory)
        )
        if not self.settings.pointer:
            return log_BKV
        return final_log_probabilities(
            log_BKV, steps.generate_BQ, steps.weight_BQL, memory.id_BL, state.vocab_size
        )

    def source_attention(self, batch: Batch, memory: Memory) -> Tensor:
        """Return the attention of target positions to source tokens, [B, S, L]."""
        is_seen_BSL = self._is_seen(self._windows(batch.target_BS, memory), memory)
        embedded_BSE = self._embedded(batch.target_BS)
        return self.decoder.sequence(embedded_BSE, memory, is_seen_BSL).weight_BQL

    @property
    def _output_layer(self) -> OutputLayer:
        if self.output is None:
            return OutputLayer(self.embedding.weight, None)
        return OutputLayer(self.output.weight, self.output.bias)

    def _embedded(self, ids: Tensor) -> Tensor:
        known = ids.masked_fill(ids >= self.settings.vocab_size, UNKNOWN)
        return self.dropout(self.embedding(known))

    def _windows(self, target_BS: Tensor, memory: Memory) -> Tensor:
        """Return the window that each target position attends to, [B, S]."""
        if self.settings.windows == "static":
            step_S1 = torch.arange(target_BS.shape[1], device=target_BS.device)[:, None]
            return (memory.shift_BN[:, None] <= step_S1).sum(-1)
        if self.settings.windows == "dynamic":
            window_BS = (target_BS == SHIFT).cumsum(1) - 1  # the first BEGIN opens window 0
            return torch.minimum(window_BS, self._last_window(memory)[:, None])
        return torch.zeros_like(target_BS)

    def _next_windows(
        self, window_BK: Tensor, token_BK: Tensor, memory: Memory, step: int
    ) -> Tensor:
        """Return the window of each hypothesis after its newest token, [B, K]."""
        if self.settings.windows == "static":
            return (memory.shift_BN <= step).sum(1, keepdim=True).expand_as(window_BK)
        if self.settings.windows == "dynamic":
            moved_BK = window_BK + (token_BK == SHIFT)
            return torch.minimum(moved_BK, self._last_window(memory)[:, None])
        return torch.zeros_like(window_BK)

    def _is_seen(self, window_BQ: Tensor, memory: Memory) -> Tensor:
        """Return which source tokens each query may attend to, [B, Q, L]."""
        settings = self.settings
        if not settings.is_windowed:
            return memory.is_source_BL[:, None].expand(-1, window_BQ.shape[1], -1)
        return window_mask(
            window_BQ, memory.is_source_BL, settings.window_tokens, settings.window_stride
        )

    def _is_closed(self, window_BQ: Tensor, memory: Memory) -> Tensor | None:
        """Return whether a query is in the last window, [B, Q]; None without dynamic windows."""
        if self.settings.windows != "dynamic":
            return None
        return window_BQ == self._last_window(memory)[:, None]

    def _last_window(self, memory: Memory) -> Tensor:
        size, stride = self.settings.window_tokens, self.settings.window_stride
        return window_counts(memory.is_source_BL.sum(1), size, stride) - 1


def _at(x_BS: Tensor, slot_Y: Tensor) -> Tensor:
    """Return the rows of some positions in [B, S] flattened, [Y, ...]."""
    return x_BS.flatten(0, 1).index_select(0, slot_Y)
