"""Summaries that begin with the title, as in the released code of the PHT paper.

Letters: B examples, K hypotheses of each, V vocabulary, S tokens so far with the begin, X tokens of
the longest title.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from wikisum.models.network.packing import Source
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import END_OF_TITLE, PAD


def titles_of(source: Source) -> list[list[int]]:
    """Return the subwords of each title: what stands before END_OF_TITLE; none without that."""
    counts = source.is_source_BL.sum(1).tolist()
    sources = [part.tolist() for part in torch.split(source.id_N, counts)]
    return [ids[: ids.index(END_OF_TITLE)] if END_OF_TITLE in ids else [] for ids in sources]


class Primer:
    """Forces the first subwords of each summary.

    A forced subword has log-probability 0: the score of a summary is that of what follows.
    """

    def __init__(self, starts: Sequence[Sequence[int]], device: torch.device) -> None:
        longest = max(map(len, starts), default=0)
        padded = [[*start, *[PAD] * (longest - len(start))] for start in starts]
        self.token_BX = torch.tensor(padded, dtype=torch.long, device=device)

    @classmethod
    def of(cls, source: Source, settings: DecodingSettings) -> "Primer":
        """Return the primer of some examples, which forces nothing without `prime_title`."""
        if not settings.prime_title:
            return cls([[] for _ in source.is_source_BL], source.id_N.device)
        starts = [title[: settings.max_tokens] for title in titles_of(source)]
        return cls(starts, source.id_N.device)

    def primed(self, log_BKV: Tensor, step: int, example_B: Tensor | None = None) -> Tensor:
        """Return `log_BKV` with the forced subword of this step alone, where there is one.

        `example_B` are the numbers of the examples that are left (None: all).
        """
        if step >= self.token_BX.shape[1]:
            return log_BKV
        token_B = self.token_BX[slice(None) if example_B is None else example_B, step]
        forced_BKV = torch.full_like(log_BKV, float("-inf"))
        forced_BKV.scatter_(-1, token_B[:, None, None].expand(-1, log_BKV.shape[1], 1), 0.0)
        return torch.where((token_B != PAD)[:, None, None], forced_BKV, log_BKV)
