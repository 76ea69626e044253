"""The recurrent baseline of Liu et al. 2018: an LSTM encoder and decoder with attention.

Letters: B examples, L source tokens, S target positions, Y labels, K hypotheses, W width of the
LSTM, A width of its memory, E width of embeddings, V vocabulary.

The paper cites Bahdanau et al. 2014, whose encoder reads in both directions (`bidirectional`); the
authors' code (tensor2tensor, `lstm_seq2seq_attention`) reads the reversed source in one direction
and starts the decoder from the encoder's last state. Both feed the attention vector of a step into
the next one, and predict from it. The default is what was run, the code. It differs in one point:
the code lets attention see padding, here it is masked, so that batch mates change nothing.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.network.additive_attention import additive_scores
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.loss import cross_entropy, label_log_probabilities
from wikisum.models.network.lstm_rows import lstm_over_rows, rows_at
from wikisum.models.network.packing import Batch, Source, pad
from wikisum.models.network.presets import TINY_DECODING, TINY_SOURCE, TINY_TRAIN
from wikisum.models.network.spec import Loss, ModelSpec, SummaryModel, TensorState
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import FLAT
from wikisum.ranker.setting import Checked, setting, share_setting


@dataclass(frozen=True)
class LstmSettings(Checked):
    """Sizes of the LSTMs; the defaults are those of `lstm_attention` in the released code."""

    vocab_size: int = setting(32_000, "number of subwords", at_least=1)
    embedding: int = setting(128, "width of token vectors", at_least=1)
    width: int = setting(128, "width of the LSTMs, per direction", at_least=1)
    layers: int = setting(2, "LSTM layers of the encoder and of the decoder", at_least=1)
    dropout: float = share_setting(0.2, "dropout on the input of each LSTM layer")
    bidirectional: bool = setting(False, "read the source in both directions")
    share_embeddings: bool = setting(False, "one table of embeddings for source and target")


class Memory(NamedTuple):
    """The encoded source: what is mixed [B, L, A], keys [B, L, W], a mask, the last states."""

    value_BLA: Tensor
    key_BLW: Tensor
    is_source_BL: Tensor
    hidden_BXW: Tensor  # X layers
    cell_BXW: Tensor


class Encoder(nn.Module):
    """LSTMs over the source: reversed and in one direction, or in both."""

    def __init__(self, settings: LstmSettings) -> None:
        super().__init__()
        width, layers = settings.width, settings.layers
        self.is_reversed = not settings.bidirectional
        self.dropout = Dropout(settings.dropout)
        self.lstm = nn.LSTM(
            settings.embedding, width, layers, batch_first=True,
            dropout=settings.dropout if layers > 1 else 0.0, bidirectional=settings.bidirectional,
        )  # fmt: skip
        self.memory_width = width * (2 if settings.bidirectional else 1)
        self.key = nn.Linear(self.memory_width, width, bias=False)
        self.bridge = (
            nn.ModuleList(nn.Linear(2 * width, width) for _ in range(2))
            if settings.bidirectional
            else None
        )

    def forward(self, embedded_BLE: Tensor, is_source_BL: Tensor) -> Memory:
        """The memory of padded sources, in their own order."""
        length_B = is_source_BL.sum(1)
        index_BL = torch.arange(is_source_BL.shape[1], device=length_B.device).expand_as(
            is_source_BL
        )
        if self.is_reversed:  # padding stays behind
            index_BL = torch.where(is_source_BL, length_B[:, None] - 1 - index_BL, index_BL)
        read_BLE = self.dropout(rows_at(embedded_BLE, index_BL))
        value_BLA, (hidden, cell) = lstm_over_rows(self.lstm, read_BLE, length_B)
        value_BLA = rows_at(value_BLA, index_BL)
        states = (self._of_layers(hidden), self._of_layers(cell))
        if self.bridge is not None:
            states = torch.tanh(self.bridge[0](states[0])), self.bridge[1](states[1])
        return Memory(value_BLA, self.key(value_BLA), is_source_BL, *states)

    def _of_layers(self, state_YBW: Tensor) -> Tensor:
        """[B, X, W] of each layer, both directions side by side."""
        directions = 1 if self.bridge is None else 2
        by_layer = state_YBW.view(-1, directions, *state_YBW.shape[1:])
        return by_layer.permute(2, 0, 1, 3).flatten(2)


class DecoderState(NamedTuple):
    """After some steps: states of each layer [B, K, X, W], the last attention vector [B, K, W]."""

    hidden: Tensor
    cell: Tensor
    attention: Tensor


class Decoder(nn.Module):
    """LSTM cells and additive attention, whose vector is fed into the next step."""

    def __init__(self, settings: LstmSettings, memory_width: int) -> None:
        super().__init__()
        width = settings.width
        inputs = [settings.embedding + width] + [width] * (settings.layers - 1)
        self.cells = nn.ModuleList(nn.Linear(size + width, 4 * width) for size in inputs)
        self.dropout = Dropout(settings.dropout)
        self.query = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)
        self.mix = nn.Linear(width + memory_width, width, bias=False)

    def start(self, memory: Memory, beam: int) -> DecoderState:
        """The state before the first step."""
        hidden, cell = (
            state[:, None].expand(-1, beam, -1, -1)
            for state in (memory.hidden_BXW, memory.cell_BXW)
        )
        return DecoderState(hidden, cell, torch.zeros_like(hidden[:, :, 0]))

    def forward(
        self, embedded_BKE: Tensor, state: DecoderState, memory: Memory
    ) -> tuple[DecoderState, Tensor]:
        """The state after one more token, whose attention vector tells the next one; the weights.

        Weights are [B, K, L].
        """
        x = torch.cat([embedded_BKE, state.attention], -1)
        hidden, cell = [], []
        for layer, old_h, old_c in zip(
            self.cells, state.hidden.unbind(2), state.cell.unbind(2), strict=True
        ):
            gates = layer(torch.cat([self.dropout(x), old_h], -1))
            keep_in, forget, new, show = gates.chunk(4, -1)
            c = forget.sigmoid() * old_c + keep_in.sigmoid() * new.tanh()
            x = show.sigmoid() * c.tanh()
            hidden.append(x)
            cell.append(c)
        weight_BKL = self._weights(x, memory)
        context_BKA = weight_BKL @ memory.value_BLA
        attention: Tensor = self.mix(torch.cat([x, context_BKA], -1))
        return DecoderState(torch.stack(hidden, 2), torch.stack(cell, 2), attention), weight_BKL

    def _weights(self, x_BKW: Tensor, memory: Memory) -> Tensor:
        score_BKL = additive_scores(self.query(x_BKW), memory.key_BLW, self.score.weight[0])
        score_BKL = score_BKL.masked_fill(~memory.is_source_BL[:, None], float("-inf"))
        return score_BKL.softmax(-1)


class LstmAttention(SummaryModel):
    """Encoder, decoder and tables of embeddings: source, target and output, or one for all."""

    def __init__(self, settings: LstmSettings) -> None:
        super().__init__()
        self.settings = settings
        sizes = settings.vocab_size, settings.embedding
        self.source_embedding = nn.Embedding(*sizes)
        self.target_embedding = (
            self.source_embedding if settings.share_embeddings else nn.Embedding(*sizes)
        )
        self.encoder = Encoder(settings)
        self.decoder = Decoder(settings, self.encoder.memory_width)
        self.output = nn.Parameter(torch.empty(settings.vocab_size, settings.width))
        self.scale = math.sqrt(settings.embedding)
        self._initialize()

    def _initialize(self) -> None:
        """Uniform with unit variance of sums (the released code's rule); forget gates open."""
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                bound = math.sqrt(3 / parameter.shape[-1])
                nn.init.uniform_(parameter, -bound, bound)
            else:
                nn.init.zeros_(parameter)
            if name.startswith("encoder.lstm.bias_ih") or (
                name.startswith("decoder.cells") and name.endswith("bias")
            ):
                quarter = len(parameter) // 4
                nn.init.ones_(parameter.detach()[quarter : 2 * quarter])
        for table in (self.source_embedding.weight, self.target_embedding.weight, self.output):
            nn.init.normal_(table, std=table.shape[1] ** -0.5)

    def encode(self, source: Source) -> Memory:
        """The memory of the sources of a batch."""
        rows = source.slot_in_example_N, source.is_source_BL
        embedded_BLE = pad(self.source_embedding(source.id_N) * self.scale, *rows)
        return self.encoder(embedded_BLE, source.is_source_BL)

    def decode(self, target_BS: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """([B, S, W] attention vectors, which tell next tokens; [B, S, L] attention weights)."""
        embedded_BSE = self._embedded(target_BS)
        state, found, weights = self.decoder.start(memory, 1), [], []
        for embedded_BE in embedded_BSE.unbind(1):
            state, weight_BKL = self.decoder(embedded_BE[:, None], state, memory)
            found.append(state.attention[:, 0])
            weights.append(weight_BKL[:, 0])
        return torch.stack(found, 1), torch.stack(weights, 1)

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """The cross-entropy of the target labels."""
        x_YW, label_Y = self._at_labels(batch, self.encode(batch.source)), batch.label_Y
        sums = cross_entropy(x_YW, self.output, None, label_Y, smoothing)
        return Loss(sums.smoothed, label_Y.numel(), sums.plain)

    def log_probabilities(self, batch: Batch, memory: Memory) -> Tensor:
        """[Y] the log-probability of each target label."""
        x_YW = self._at_labels(batch, memory)
        return label_log_probabilities(x_YW, self.output, None, batch.label_Y)

    def _at_labels(self, batch: Batch, memory: Memory) -> Tensor:
        x_BSW, _ = self.decode(batch.target_BS, memory)
        return x_BSW.flatten(0, 1).index_select(0, batch.label_slot_Y)

    def start(self, memory: Memory, beam: int, max_steps: int) -> TensorState:
        """The state before the first step."""
        state = self.decoder.start(memory, beam)
        return TensorState(state._asdict(), memory._asdict())

    def step(self, token_BK: Tensor, state: TensorState) -> Tensor:
        """[B, K, V] logits of the next token of K hypotheses."""
        memory, past = Memory(**state.per_example), DecoderState(**state.per_hypothesis)
        past, _ = self.decoder(self._embedded(token_BK), past, memory)
        state.per_hypothesis = past._asdict()
        return self.logits(past.attention)

    def source_attention(self, batch: Batch, memory: Memory) -> Tensor:
        """[B, S, L] the attention of target positions to source tokens."""
        return self.decode(batch.target_BS, memory)[1]

    def logits(self, x: Tensor) -> Tensor:
        """[..., V] logits of the next token."""
        return F.linear(x, self.output)

    def _embedded(self, ids: Tensor) -> Tensor:
        return self.target_embedding(ids) * self.scale


_TRAIN = TrainSettings(
    steps=1_000_000, batch_tokens=1_024, peak_learning_rate=2e-4, warmup_steps=100,
    schedule="constant", beta1=0.85, beta2=0.997, epsilon=1e-6, clip=2.0,
)  # fmt: skip
_SOURCE = SourceSettings(source_tokens=500)
_DECODING = DecodingSettings(beam=4, alpha=0.6, max_tokens=400)
_TINY = LstmSettings(embedding=96, width=96, layers=1, dropout=0.0)

SPEC = ModelSpec(
    name="lstm",
    settings=LstmSettings,
    build=LstmAttention,
    source=FLAT,
    presets={
        # Liu et al. 2018, table 4, as in their code. Its warm-up over 100 steps is exponential,
        # here it is linear.
        "seq2seq-att": RunSettings(LstmSettings(), _SOURCE, _TRAIN, _DECODING),
        # as in Bahdanau et al. 2014, which the paper cites
        "seq2seq-att-bidirectional": RunSettings(
            LstmSettings(bidirectional=True), _SOURCE, _TRAIN, _DECODING
        ),
        "tiny-seq2seq-att": RunSettings(_TINY, TINY_SOURCE, TINY_TRAIN, TINY_DECODING),
    },
)
