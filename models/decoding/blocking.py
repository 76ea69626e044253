"""Which subwords a search may not write next.

Letters: B examples, K hypotheses of each, V vocabulary, S tokens so far with BEGIN.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from wikisum.models.decoding.headings import HEADING_TOKENS, HeadingRule
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END, END_OF_PARAGRAPH, END_OF_TITLE, PAD, UNKNOWN

NEVER_WRITTEN = (PAD, UNKNOWN, BEGIN, END_OF_TITLE, END_OF_PARAGRAPH)


class Blocker:
    """Sets the log-probability of tokens that may not come next to -inf.

    END is forbidden before `min_tokens`, and everything else after `max_tokens`. `commas` are left
    out of `block_recent`. Section headings are forbidden unless there is a rule for `headings`.
    `writes` are further special tokens that may come.
    """

    def __init__(
        self,
        settings: DecodingSettings,
        commas: Iterable[int],
        device: torch.device,
        headings: HeadingRule | None = None,
        writes: frozenset[int] = frozenset(),
    ) -> None:
        self._settings, self._headings = settings, headings
        allowed = writes | (HEADING_TOKENS if headings is not None else set())
        self._never = torch.tensor(sorted(set(NEVER_WRITTEN) - allowed), device=device)
        self._commas = torch.tensor(sorted(commas), dtype=torch.long, device=device)

    def blocked(
        self, log_BKV: Tensor, token_BKS: Tensor, example_B: Tensor | None = None
    ) -> Tensor:
        """Return `log_BKV` after hypotheses `token_BKS`, changed in place.

        `example_B` are the indexes of the examples in the batch that the headings are given for.
        """
        settings = self._settings
        written_BKS = token_BKS[..., 1:]
        count = written_BKS.shape[-1]
        if count >= settings.max_tokens:
            log_BKV[..., :END] = float("-inf")
            log_BKV[..., END + 1 :] = float("-inf")
            return log_BKV
        forced = None
        if self._headings is not None:
            if example_B is None:
                example_B = torch.arange(len(token_BKS), device=token_BKS.device)
            forced = self._headings.forbid(log_BKV, token_BKS, example_B)
        log_BKV.index_fill_(-1, self._never, float("-inf"))
        if count < settings.min_tokens:
            log_BKV[..., END] = float("-inf")
        if 0 < settings.block_ngram <= count:
            _forbid(log_BKV, self._completing(written_BKS, settings.block_ngram))
        if settings.block_recent and count:
            _forbid(log_BKV, self._recent(written_BKS))
        if forced is not None:
            forced.restore(log_BKV)
        return log_BKV

    def _completing(self, written_BKS: Tensor, n: int) -> Tensor:
        """[B, K, windows] tokens that would complete an n-gram that is there, or padding."""
        windows = written_BKS.unfold(-1, n, 1)
        start = written_BKS[:, :, None, written_BKS.shape[-1] - n + 1 :]
        is_there = (windows[..., :-1] == start).all(-1)
        return torch.where(is_there, windows[..., -1], PAD)

    def _recent(self, written_BKS: Tensor) -> Tensor:
        """[B, K, up to 4] the last two tokens that are no commas of the last four, or padding."""
        newest_first = written_BKS[..., -4:].flip(-1)
        counts = ~torch.isin(newest_first, self._commas)
        return torch.where(counts & (counts.cumsum(-1) <= 2), newest_first, PAD)


def _forbid(log_BKV: Tensor, token_BKX: Tensor) -> None:
    """Set tokens to -inf; padding among them is forbidden anyway."""
    log_BKV.scatter_(-1, token_BKX, float("-inf"))
