"""Beam search, batched over examples, on the device of the model.

Letters: B examples, K hypotheses of each, V vocabulary, S tokens so far with the begin, C = steps
* K places of the cache. The cache of keys and values is never moved: each hypothesis knows in
which of the K places of every step its past lies, and its attention is masked to those.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from wikisum.models.decoding.blocking import Blocker
from wikisum.models.decoding.settings import Found, SearchSettings
from wikisum.models.network.packing import Source
from wikisum.models.network.summarizer import Summarizer
from wikisum.ranker.data.vocab import BEGIN, END, PAD


class _Hypotheses(NamedTuple):
    """The living hypotheses of examples, best first."""

    token_BKS: Tensor
    log_BK: Tensor
    place_BKS: Tensor  # in which of the K places of each step its past lies

    def rows(self, kept: Tensor) -> "_Hypotheses":
        return _Hypotheses(*(t[kept] for t in self))


class _Finished(NamedTuple):
    """The best finished hypothesis of each example so far; tokens padded behind the end."""

    token_BS: Tensor
    log_B: Tensor
    score_B: Tensor


@torch.inference_mode()
def beam_search(
    model: Summarizer,
    source: Source,
    settings: SearchSettings,
    commas: frozenset[int] = frozenset(),
) -> list[Found]:
    """The best summary found for each example.

    At each step the best of an example's continuations that end, if it is among the K best of
    all, is kept, and the K best that do not end live on. An example is done when no living
    hypothesis could come to beat its best finished one, whatever follows. With K = 1, greedy
    search, it is done at the first end.
    """
    memory = model.encode(source)
    batch, device, beam = source.is_source_BL.shape[0], source.id_N.device, settings.beam
    caches = model.empty_caches(batch, beam, settings.max_tokens + 1)
    blocker = Blocker(settings, commas, device)
    living = _first_hypotheses(batch, beam, device)
    best = _Finished(
        torch.full((batch, settings.max_tokens + 1), PAD, device=device),
        torch.full((batch,), -torch.inf, device=device),
        torch.full((batch,), -torch.inf, device=device),
    )
    example_B = torch.arange(batch, device=device)
    own_K = torch.arange(beam, device=device)
    for step in range(settings.max_tokens + 1):
        here_BK1 = own_K.expand(len(example_B), beam)[..., None]
        place_BKS = torch.cat([living.place_BKS, here_BK1], -1)
        is_ancestor_BKC = (place_BKS[..., None] == own_K).flatten(2)
        newest_BK = living.token_BKS[..., -1]
        logits_BKV = model.step(newest_BK, step, caches, is_ancestor_BKC, memory).float()
        next_BKV = blocker.blocked(logits_BKV.log_softmax(-1), living.token_BKS)
        living, ended = _extended(living._replace(place_BKS=place_BKS), next_BKV, settings)
        _keep_better(best, example_B, ended)
        bound_B = living.log_BK[:, 0] / settings.normaliser(settings.max_tokens + 1)
        is_open_B = bound_B > best.score_B[example_B]
        if beam == 1:
            is_open_B = best.score_B[example_B].isinf()
        open_count = int(is_open_B.sum())
        if not open_count:
            break
        if open_count * 2 <= len(example_B):  # the others need no more room
            kept = is_open_B.nonzero().squeeze(1)
            example_B, memory, living = example_B[kept], memory.rows(kept), living.rows(kept)
            caches = [(keys[kept], values[kept]) for keys, values in caches]
    return _found(best)


def _first_hypotheses(batch: int, beam: int, device: torch.device) -> _Hypotheses:
    """The empty summary, once an example: the other places start impossible."""
    log_BK = torch.full((batch, beam), -torch.inf, device=device)
    log_BK[:, 0] = 0.0
    token_BKS = torch.full((batch, beam, 1), BEGIN, device=device)
    return _Hypotheses(token_BKS, log_BK, token_BKS[..., :0])


def _extended(
    living: _Hypotheses, next_BKV: Tensor, settings: SearchSettings
) -> tuple[_Hypotheses, _Finished]:
    """(the K best hypotheses that go on, the best one that ends)."""
    beam, vocab = next_BKV.shape[1:]
    total_BX = (living.log_BK[..., None] + next_BKV).flatten(1)
    log_BX, index_BX = total_BX.topk(min(2 * beam, beam * vocab))
    parent_BX, token_BX = index_BX // vocab, index_BX % vocab
    is_end_BX = token_BX == END
    is_among_best_X = torch.arange(log_BX.shape[1], device=log_BX.device) < beam
    end_log_B, end_B = log_BX.masked_fill(~(is_end_BX & is_among_best_X), -torch.inf).max(1)
    end_parent_B = parent_BX.gather(1, end_B[:, None])
    ended = _Finished(
        _of_parents(living.token_BKS, end_parent_B)[:, 0, 1:],
        end_log_B,
        end_log_B / settings.normaliser(living.token_BKS.shape[-1]),
    )
    on_log_BX, order_BX = log_BX.masked_fill(is_end_BX, -torch.inf).sort(
        descending=True, stable=True
    )
    on_BK = order_BX[:, :beam]
    parent_BK, token_BK = parent_BX.gather(1, on_BK), token_BX.gather(1, on_BK)
    return _Hypotheses(
        torch.cat([_of_parents(living.token_BKS, parent_BK), token_BK[..., None]], -1),
        on_log_BX[:, :beam],
        _of_parents(living.place_BKS, parent_BK),
    ), ended


def _of_parents(x_BKS: Tensor, parent_BX: Tensor) -> Tensor:
    """[B, X, S] the rows of `x_BKS` that the parents name."""
    return x_BKS.gather(1, parent_BX[..., None].expand(-1, -1, x_BKS.shape[-1]))


def _keep_better(best: _Finished, example_B: Tensor, ended: _Finished) -> None:
    """Put what ended into `best`, in place, where it scores higher."""
    is_better_B = ended.score_B > best.score_B[example_B]
    rows = example_B[is_better_B]
    best.token_BS[rows, : ended.token_BS.shape[1]] = ended.token_BS[is_better_B]
    best.log_B[rows] = ended.log_B[is_better_B]
    best.score_B[rows] = ended.score_B[is_better_B]


def _found(best: _Finished) -> list[Found]:
    columns = (part.tolist() for part in best)
    return [
        Found([t for t in tokens if t != PAD], log_probability, score)
        for tokens, log_probability, score in zip(*columns, strict=True)
    ]
