"""The two decoders of pointer-generators: those of See et al. 2017 and of Schueller et al. 2020.

Letters: B examples, Q queries, which are S target positions or K hypotheses, L source tokens, E
width of embeddings, D width of the decoder, A width of the encoder's outputs.

The decoder of See et al. feeds the context of a step into the next one, so a target is run step by
step. That of Schueller et al. does not: its LSTM runs over the whole target, then all positions
attend together.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from wikisum.models.network.additive_attention import additive_scores
from wikisum.models.pointer.encoder import Memory
from wikisum.models.pointer.settings import PointerSettings


class Steps(NamedTuple):
    """What the decoder computes for each query.

    `x_BQX` is compared with the table of output vectors, `weight_BQL` is the attention, which also
    is the copy distribution, `generate_BQ` the logit of the probability to generate instead of
    copying, `again_BQ` the coverage loss.
    """

    x_BQX: Tensor
    weight_BQL: Tensor
    generate_BQ: Tensor
    again_BQ: Tensor


class DecoderState(NamedTuple):
    """A decoder after some steps; `coverage` is the sum of its attention so far."""

    hidden_BKD: Tensor
    cell_BKD: Tensor
    context_BKA: Tensor
    coverage_BKL: Tensor


class BahdanauDecoder(nn.Module):
    """The decoder of See et al. 2017, section 2, as in their code.

    The input of the LSTM merges the token with the last context. Attention and the choice to
    generate see the cell state too, and attention sees what was attended to before.
    """

    def __init__(self, settings: PointerSettings) -> None:
        super().__init__()
        embedding, width, memory = settings.embedding, settings.width, 2 * settings.width
        self.uses_coverage = settings.coverage
        self.reduce_hidden = nn.Linear(memory, width)
        self.reduce_cell = nn.Linear(memory, width)
        self.merge = nn.Linear(embedding + memory, embedding)
        self.cell = nn.LSTMCell(embedding, width)
        self.source = nn.Linear(memory, memory, bias=False)  # W_h of eq. 1
        self.query = nn.Linear(2 * width, memory)  # W_s and b_attn
        self.covered = nn.Parameter(torch.zeros(memory))  # w_c of eq. 11
        self.score = nn.Linear(memory, 1, bias=False)  # v
        self.output = nn.Linear(width + memory, width)  # V and b of eq. 4
        self.generate = _gate(settings, memory + 2 * width + embedding)  # eq. 8

    def key(self, value_BLA: Tensor) -> Tensor:
        """Return the features of source tokens in attention."""
        return self.source(value_BLA)

    def start(self, memory: Memory, count: int) -> DecoderState:
        """Return the encoder's last states, reduced to the decoder's width."""
        hidden_BD = self.reduce_hidden(memory.hidden_BW).relu()
        cell_BD = self.reduce_cell(memory.cell_BW).relu()
        return _first_state(hidden_BD, cell_BD, memory, count)

    def step(
        self, embedded_BKE: Tensor, state: DecoderState, memory: Memory, is_seen_BKL: Tensor
    ) -> tuple[Steps, DecoderState]:
        """Return one step of K hypotheses, and the state after it."""
        x_BKE = self.merge(torch.cat([embedded_BKE, state.context_BKA], -1))
        hidden, cell = self.cell(
            x_BKE.flatten(0, 1), (state.hidden_BKD.flatten(0, 1), state.cell_BKD.flatten(0, 1))
        )
        hidden, cell = hidden.view_as(state.hidden_BKD), cell.view_as(state.cell_BKD)
        both_BKD = torch.cat([cell, hidden], -1)
        coverage_BKL = state.coverage_BKL if self.uses_coverage else None
        score_BKL = additive_scores(
            self.query(both_BKD), memory.key_BLA, self.score.weight[0], coverage_BKL, self.covered
        )
        weight_BKL = _softmax(score_BKL, is_seen_BKL)
        context_BKA = weight_BKL @ memory.value_BLA
        steps = Steps(
            self.output(torch.cat([hidden, context_BKA], -1)),
            weight_BKL,
            _generate(self.generate, context_BKA, both_BKD, x_BKE),
            torch.minimum(weight_BKL, state.coverage_BKL).sum(-1),  # eq. 12
        )
        covered_BKL = state.coverage_BKL + weight_BKL  # eq. 10
        return steps, DecoderState(hidden, cell, context_BKA, covered_BKL)

    def sequence(self, embedded_BSE: Tensor, memory: Memory, is_seen_BSL: Tensor) -> Steps:
        """Return the steps of whole targets, one after the other."""
        state, found = self.start(memory, 1), []
        for embedded_BE, is_seen_BL in zip(
            embedded_BSE.unbind(1), is_seen_BSL.unbind(1), strict=True
        ):
            steps, state = self.step(embedded_BE[:, None], state, memory, is_seen_BL[:, None])
            found.append(steps)
        return Steps(*(torch.cat(parts, 1) for parts in zip(*found, strict=True)))


class LuongDecoder(nn.Module):
    """The decoder of Schueller et al. 2020, section 2: twice as wide as the encoder's LSTM.

    Its first state is the encoder's last one as it is. Coverage is penalized, but attention does
    not see it, as that would need a score other than the dot product.
    """

    def __init__(self, settings: PointerSettings) -> None:
        super().__init__()
        embedding, width = settings.embedding, 2 * settings.width
        self.lstm = nn.LSTM(embedding, width, batch_first=True)
        self.output = nn.Linear(2 * width, embedding)
        self.generate = _gate(settings, 2 * width + embedding)  # eq. 1

    def key(self, value_BLA: Tensor) -> Tensor:
        """Return the encoder's outputs as they are."""
        return value_BLA

    def start(self, memory: Memory, count: int) -> DecoderState:
        """Return the encoder's last states."""
        return _first_state(memory.hidden_BW, memory.cell_BW, memory, count)

    def step(
        self, embedded_BKE: Tensor, state: DecoderState, memory: Memory, is_seen_BKL: Tensor
    ) -> tuple[Steps, DecoderState]:
        """Return one step of K hypotheses, and the state after it."""
        shape = embedded_BKE.shape[:2]
        before = [s.flatten(0, 1)[None].contiguous() for s in (state.hidden_BKD, state.cell_BKD)]
        out, (_, cell) = self.lstm(embedded_BKE.flatten(0, 1)[:, None], (before[0], before[1]))
        hidden_BKD = out.view(*shape, -1)
        steps, context_BKA = self._attend(embedded_BKE, hidden_BKD, memory, is_seen_BKL)
        steps = steps._replace(again_BQ=_again(steps.weight_BQL, state.coverage_BKL))
        covered_BKL = state.coverage_BKL + steps.weight_BQL
        return steps, DecoderState(hidden_BKD, cell.view(*shape, -1), context_BKA, covered_BKL)

    def sequence(self, embedded_BSE: Tensor, memory: Memory, is_seen_BSL: Tensor) -> Steps:
        """Return the steps of whole targets, all together."""
        first = memory.hidden_BW[None].contiguous(), memory.cell_BW[None].contiguous()
        hidden_BSD, _ = self.lstm(embedded_BSE, first)
        steps, _ = self._attend(embedded_BSE, hidden_BSD, memory, is_seen_BSL)
        before_BSL = steps.weight_BQL.cumsum(1) - steps.weight_BQL
        return steps._replace(again_BQ=_again(steps.weight_BQL, before_BSL))

    def _attend(
        self, embedded_BQE: Tensor, hidden_BQD: Tensor, memory: Memory, is_seen_BQL: Tensor
    ) -> tuple[Steps, Tensor]:
        """Return steps, yet without coverage loss, and the contexts, [B, Q, A]."""
        score_BQL = hidden_BQD @ memory.key_BLA.mT
        weight_BQL = _softmax(score_BQL, is_seen_BQL)
        context_BQA = weight_BQL @ memory.value_BLA
        both_BQX = torch.cat([context_BQA, hidden_BQD], -1)
        generate_BQ = _generate(self.generate, both_BQX, embedded_BQE)
        return Steps(self.output(both_BQX), weight_BQL, generate_BQ, generate_BQ), context_BQA


def _gate(settings: PointerSettings, width: int) -> nn.Linear | None:
    return nn.Linear(width, 1) if settings.pointer else None


def _generate(gate: nn.Linear | None, *parts: Tensor) -> Tensor:
    """Return the logit of the probability to generate, [B, Q]; 0 for a model that never copies."""
    if gate is None:
        return parts[0].new_zeros(parts[0].shape[:2])
    return gate(torch.cat(parts, -1))[..., 0]


def _softmax(score_BQL: Tensor, is_seen_BQL: Tensor) -> Tensor:
    """Return the attention over the source tokens that a query sees."""
    return score_BQL.masked_fill(~is_seen_BQL, float("-inf")).softmax(-1)


def _again(weight_BQL: Tensor, coverage_BQL: Tensor) -> Tensor:
    """Return the coverage loss of each query: attention to what has been attended to before."""
    return torch.minimum(weight_BQL, coverage_BQL).sum(-1)


def _first_state(hidden_BD: Tensor, cell_BD: Tensor, memory: Memory, count: int) -> DecoderState:
    hidden_BKD, cell_BKD = (s[:, None].expand(-1, count, -1) for s in (hidden_BD, cell_BD))
    context_BKA = memory.value_BLA.new_zeros(*hidden_BKD.shape[:2], memory.value_BLA.shape[-1])
    coverage_BKL = memory.value_BLA.new_zeros(*hidden_BKD.shape[:2], memory.id_BL.shape[1])
    return DecoderState(hidden_BKD, cell_BKD, context_BKA, coverage_BKL)
