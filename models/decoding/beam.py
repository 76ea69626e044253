"""Beam search, batched over examples, on the device of the model.

Letters: B examples, K hypotheses per example, N of them to return, V vocabulary, S tokens so far
including BEGIN, X candidates.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from wikisum.models.decoding.blocking import Blocker
from wikisum.models.decoding.headings import HeadingRule
from wikisum.models.decoding.hypothesis import Hypothesis
from wikisum.models.decoding.priming import Primer
from wikisum.models.network.packing import Source
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END, PAD


class _Living(NamedTuple):
    """The hypotheses that go on, best first."""

    token_BKS: Tensor
    log_BK: Tensor


class _Finished(NamedTuple):
    """The best finished hypotheses of each example, best first; tokens padded after END."""

    token_BNS: Tensor
    log_BN: Tensor
    score_BN: Tensor


@torch.inference_mode()
def beam_search(
    model: SummaryModel,
    source: Source,
    settings: DecodingSettings,
    commas: frozenset[int] = frozenset(),
    headings: HeadingRule | None = None,
) -> list[Hypothesis]:
    """Return the best summary found for each example, with section headings if there is a rule."""
    found = beam_search_n_best(model, source, replace(settings, n_best=1), commas, headings)
    return [hypotheses[0] for hypotheses in found]


@torch.inference_mode()
def beam_search_n_best(
    model: SummaryModel,
    source: Source,
    settings: DecodingSettings,
    commas: frozenset[int] = frozenset(),
    headings: HeadingRule | None = None,
) -> list[list[Hypothesis]]:
    """Return the `n_best` summaries found for each example, best first; fewer if fewer ended.

    At each step, the continuations that end are kept if they are among the K best of all, and the
    K best continuations that do not end live on. An example is done when no living hypothesis can
    still beat the last of its N finished ones. With K = 1 (greedy search) it is done at the first
    END.
    """
    memory = model.encode(source)
    batch, device, beam = source.is_source_BL.shape[0], source.id_N.device, settings.beam
    state = model.start(memory, beam, settings.max_tokens + 1)
    blocker = Blocker(settings, commas, device, headings, model.writes)
    primer = Primer.of(source, settings)
    living = _first_hypotheses(batch, beam, device)
    best = _nothing_finished((batch, settings.n_best), settings.max_tokens + 1, device)
    example_B = torch.arange(batch, device=device)
    for step in range(settings.max_tokens + 1):
        logits_BKV = model.step(living.token_BKS[..., -1], state).float()
        next_BKV = blocker.blocked(logits_BKV.log_softmax(-1), living.token_BKS, example_B)
        next_BKV = primer.primed(next_BKV, step, example_B)
        living, parent_BK, ended = _extended(living, next_BKV, settings)
        state.reorder(parent_BK)
        _keep_better(best, example_B, ended)
        # the score that the best living hypothesis would have if nothing more were lost
        bound_B = living.log_BK[:, 0] / settings.normalizer(settings.max_tokens + 1)
        last_B = best.score_BN[example_B, -1]
        is_open_B = last_B.isinf() if beam == 1 else bound_B > last_B
        open_count = int(is_open_B.sum())
        if not open_count:
            break
        if open_count * 2 <= len(example_B):  # drop the examples that are done
            kept = is_open_B.nonzero().squeeze(1)
            example_B, living = example_B[kept], _Living(*(t[kept] for t in living))
            state.select(kept)
    return _hypotheses(best)


def _first_hypotheses(batch: int, beam: int, device: torch.device) -> _Living:
    """Return one empty summary per example; the other K - 1 start with probability 0."""
    log_BK = torch.full((batch, beam), -torch.inf, device=device)
    log_BK[:, 0] = 0.0
    return _Living(torch.full((batch, beam, 1), BEGIN, device=device), log_BK)


def _nothing_finished(shape: tuple[int, int], size: int, device: torch.device) -> _Finished:
    """Return hypotheses of score -inf, which any finished one replaces."""
    log_BN = torch.full(shape, -torch.inf, device=device)
    return _Finished(torch.full((*shape, size), PAD, device=device), log_BN, log_BN.clone())


def _extended(
    living: _Living, next_BKV: Tensor, settings: DecodingSettings
) -> tuple[_Living, Tensor, _Finished]:
    """Return the K best hypotheses that go on, their parents [B, K], and the N best that end."""
    beam, vocab = next_BKV.shape[1:]
    total_BX = (living.log_BK[..., None] + next_BKV).flatten(1)
    # at most K of the 2 K best can end, so K that go on are among them
    log_BX, index_BX = total_BX.topk(min(2 * beam, beam * vocab))
    parent_BX, token_BX = index_BX // vocab, index_BX % vocab
    is_end_BX = token_BX == END
    is_among_best_X = torch.arange(log_BX.shape[1], device=log_BX.device) < beam
    end_log_BX = log_BX.masked_fill(~(is_end_BX & is_among_best_X), -torch.inf)
    end_log_BN, end_BN = end_log_BX.topk(settings.n_best)
    ended = _Finished(
        _of_parents(living.token_BKS, parent_BX.gather(1, end_BN))[..., 1:],
        end_log_BN,
        end_log_BN / settings.normalizer(living.token_BKS.shape[-1]),
    )
    on_log_BX, order_BX = log_BX.masked_fill(is_end_BX, -torch.inf).sort(
        descending=True, stable=True
    )
    on_BK = order_BX[:, :beam]
    parent_BK, token_BK = parent_BX.gather(1, on_BK), token_BX.gather(1, on_BK)
    token_BKS = torch.cat([_of_parents(living.token_BKS, parent_BK), token_BK[..., None]], -1)
    return _Living(token_BKS, on_log_BX[:, :beam]), parent_BK, ended


def _of_parents(x_BKS: Tensor, parent_BX: Tensor) -> Tensor:
    """Return the rows of `x_BKS` that the parents name, [B, X, S]."""
    return x_BKS.gather(1, parent_BX[..., None].expand(-1, -1, x_BKS.shape[-1]))


def _keep_better(best: _Finished, example_B: Tensor, ended: _Finished) -> None:
    """Put the hypotheses that ended into `best`, in place, where they score higher."""
    is_better_B = ended.score_BN[:, 0] > best.score_BN[example_B, -1]
    rows, count = example_B[is_better_B], best.score_BN.shape[1]
    unpadded = best.token_BNS.shape[-1] - ended.token_BNS.shape[-1]
    new = ended._replace(token_BNS=F.pad(ended.token_BNS, (0, unpadded), value=PAD))
    old_new = [torch.cat([b[rows], n[is_better_B]], 1) for b, n in zip(best, new, strict=True)]
    order_BN = old_new[2].sort(dim=1, descending=True, stable=True).indices[:, :count]
    best.token_BNS[rows] = _of_parents(old_new[0], order_BN)
    best.log_BN[rows] = old_new[1].gather(1, order_BN)
    best.score_BN[rows] = old_new[2].gather(1, order_BN)


def _hypotheses(best: _Finished) -> list[list[Hypothesis]]:
    return [
        [
            Hypothesis([t for t in tokens if t != PAD], log_probability, score)
            for rank, (tokens, log_probability, score) in enumerate(zip(*columns, strict=True))
            if rank == 0 or math.isfinite(score)
        ]
        for columns in zip(*(part.tolist() for part in best), strict=True)
    ]
