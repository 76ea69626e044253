"""What a search may not write next.

Letters: B examples, K hypotheses of each, V vocabulary, S tokens so far with the begin.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END, END_OF_PARAGRAPH, END_OF_TITLE, PAD, UNKNOWN

NEVER_WRITTEN = (PAD, UNKNOWN, BEGIN, END_OF_TITLE, END_OF_PARAGRAPH)


class Blocker:
    """Takes from the next tokens those that may not come, by setting them to -inf.

    The end may always come but before `min_tokens`, and alone may come behind `max_tokens`.
    `commas` are left out of `block_recent`.
    """

    def __init__(
        self, settings: DecodingSettings, commas: Iterable[int], device: torch.device
    ) -> None:
        self._settings = settings
        self._never = torch.tensor(NEVER_WRITTEN, device=device)
        self._commas = torch.tensor(sorted(commas), dtype=torch.long, device=device)

    def blocked(self, log_BKV: Tensor, token_BKS: Tensor) -> Tensor:
        """`log_BKV` after hypotheses `token_BKS`, changed in place."""
        settings = self._settings
        written_BKS = token_BKS[..., 1:]
        count = written_BKS.shape[-1]
        log_BKV.index_fill_(-1, self._never, float("-inf"))
        if count >= settings.max_tokens:
            log_BKV[..., :END] = float("-inf")
            log_BKV[..., END + 1 :] = float("-inf")
        if count < settings.min_tokens:
            log_BKV[..., END] = float("-inf")
        if 0 < settings.block_ngram <= count:
            _forbid(log_BKV, self._completing(written_BKS, settings.block_ngram))
        if settings.block_recent and count:
            _forbid(log_BKV, self._recent(written_BKS))
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
