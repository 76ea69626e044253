"""Which section headings a search may write, in the form of `models/targets.py`.

Letters: B examples of a batch, E those that are still searched, K hypotheses of each, V
vocabulary, S tokens so far with BEGIN, H headings of the example with the most, F subwords of all
headings of an example.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from wikisum.models.targets import MAX_MARKS
from wikisum.ranker.data.vocab import END, END_OF_PARAGRAPH, END_OF_TITLE, PAD

_MARK = END_OF_PARAGRAPH
HEADING_TOKENS = {_MARK, END_OF_TITLE}


class Forced(NamedTuple):
    """The only token that may come next where `is_forced_EK1`, and its log-probability."""

    token_EK1: Tensor
    log_EK1: Tensor
    is_forced_EK1: Tensor

    def restore(self, log_EKV: Tensor) -> None:
        """Allow forced tokens again that other rules have forbidden since, in place."""
        now_EK1 = log_EKV.gather(-1, self.token_EK1)
        allowed_EK1 = torch.where(self.is_forced_EK1, self.log_EK1, now_EK1)
        log_EKV.scatter_(-1, self.token_EK1, allowed_EK1)


class HeadingRule(Protocol):
    """Decides where headings begin and end, and what they say."""

    def forbid(self, log_EKV: Tensor, token_EKS: Tensor, example_E: Tensor) -> Forced | None:
        """Set what may not follow to -inf, in place; `example_E` are indexes in the batch."""


class Progress(NamedTuple):
    """How far hypotheses have come: finished headings, and tokens of the open text or heading.

    `before_EK` counts the tokens before the open text, without BEGIN. `heading_EK` is 0 in a text.
    """

    finished_EK: Tensor
    before_EK: Tensor
    text_EK: Tensor
    heading_EK: Tensor


def progress(token_EKS: Tensor) -> Progress:
    """Return how far each hypothesis has come."""
    count = token_EKS.shape[-1]
    index_S = torch.arange(count, device=token_EKS.device)
    is_title_EKS = token_EKS == END_OF_TITLE
    start_EK = torch.where(is_title_EKS, index_S + 1, 1).amax(-1)
    is_open_EKS = (token_EKS == _MARK) & (index_S >= start_EK[..., None])
    mark_EK = torch.where(is_open_EKS, index_S, count).amin(-1)  # `count` inside a text
    return Progress(is_title_EKS.sum(-1), start_EK - 1, mark_EK - start_EK, count - mark_EK)


class AnyHeadings:
    """Headings that the model chooses: marks, at least one subword, END_OF_TITLE."""

    def forbid(self, log_EKV: Tensor, token_EKS: Tensor, example_E: Tensor) -> Forced | None:
        heading_EK = progress(token_EKS).heading_EK
        is_mark_EK = token_EKS[..., -1] == _MARK
        is_text_EK = heading_EK == 0
        _forbid_where(log_EKV, is_text_EK | is_mark_EK, END_OF_TITLE)
        _forbid_where(log_EKV, ~is_text_EK, END)
        may_mark_EK = is_text_EK | (is_mark_EK & (heading_EK < MAX_MARKS))
        _forbid_where(log_EKV, ~may_mark_EK, _MARK)
        return None


class GivenHeadings:
    """Exactly these headings, in this order, each once.

    The model decides where a text ends. But it must leave each later text at least a quarter of its
    equal share of the tokens that are left, so that every heading is written within `max_tokens`.
    """

    def __init__(
        self, headings: Sequence[Sequence[Sequence[int]]], max_tokens: int, device: torch.device
    ) -> None:
        """Take the subwords of each heading of each example, marks and END_OF_TITLE included.

        Raises ValueError if the headings of an example are longer than `max_tokens`.
        """
        flat = [[i for heading in given for i in heading] for given in headings]
        longest = max(map(len, flat))
        if longest > max_tokens:
            raise ValueError(
                f"the headings have {longest} subwords, more than --max-tokens {max_tokens}"
            )
        H = max(map(len, headings))
        ends = [[0] + [len(heading) for heading in given] for given in headings]
        padded = [row + [0] * (H + 1 - len(row)) for row in ends]
        self._start_BH = torch.tensor(padded, device=device).cumsum(1)
        self._count_B = torch.tensor([len(given) for given in headings], device=device)
        ids = [row + [PAD] * (longest + 1 - len(row)) for row in flat]
        self._id_BF = torch.tensor(ids, device=device)
        self._max_tokens = max_tokens

    def forbid(self, log_EKV: Tensor, token_EKS: Tensor, example_E: Tensor) -> Forced | None:
        now = progress(token_EKS)
        left_EK = self._count_B[example_E, None] - now.finished_EK
        start_EH = self._start_BH[example_E]
        index_EK = now.finished_EK.clamp(max=start_EH.shape[1] - 1)
        start_EK = start_EH.gather(1, index_EK)
        heading_tokens_EK = start_EH[:, -1:] - start_EK  # of all headings that are left
        room_EK = self._max_tokens - now.before_EK - heading_tokens_EK
        share_EK = room_EK.div(4 * (left_EK + 1).clamp(min=1), rounding_mode="floor")
        is_text_EK = now.heading_EK == 0
        most_EK = room_EK - left_EK * share_EK
        is_due_EK = is_text_EK & (left_EK > 0) & (now.text_EK >= most_EK)
        at_EK = (start_EK + now.heading_EK).clamp(max=self._id_BF.shape[1] - 1)
        next_EK1 = self._id_BF[example_E].gather(1, at_EK)[..., None]
        forced = Forced(
            next_EK1, log_EKV.gather(-1, next_EK1), (~is_text_EK | is_due_EK)[..., None]
        )
        _forbid_where(log_EKV, is_text_EK & (left_EK > 0), END)
        _forbid_where(log_EKV, is_text_EK & (left_EK <= 0), _MARK)
        _forbid_where(log_EKV, is_text_EK, END_OF_TITLE)
        log_EKV.masked_fill_(forced.is_forced_EK1, -torch.inf)
        forced.restore(log_EKV)
        return forced


def _forbid_where(log_EKV: Tensor, is_EK: Tensor, token: int) -> None:
    log_EKV[..., token].masked_fill_(is_EK, -torch.inf)
