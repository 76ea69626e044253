"""What a ranker in training is judged by: its loss, its calibration, the recall of its best."""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.special import expit

from wikisum.ranker.data.shards import RowGroup
from wikisum.ranker.learned.batches import Floats, read_pool
from wikisum.ranker.learned.lstm import Ranker
from wikisum.ranker.learned.score import pool_logits
from wikisum.ranker.learned.settings import TokenLimits
from wikisum.ranker.rank import best_first
from wikisum.ranker.recall import CUTS, read_articles, recalls_at
from wikisum.ranker.rouge import rouge_tokens

RECALLS = [f"rougeL_recall_{cut}" for cut in CUTS]


def mean_loss(logits: Floats, labels: Floats) -> float:
    """Return the mean cross-entropy of the labels, in nats a paragraph."""
    x, y = logits.astype(np.float64), labels.astype(np.float64)
    return float(np.mean(np.logaddexp(0, x) - y * x))


class Validation:
    """Some articles, read once, on which a model is measured again and again.

    Raises ValueError if they have no paragraphs.
    """

    def __init__(
        self, groups: Sequence[RowGroup], lengths: TokenLimits, vocab_size: int | None = None
    ) -> None:
        self._pool = read_pool(groups, lengths, vocab_size)
        self._batch_tokens = lengths.batch
        articles = list(read_articles(groups))
        self._leads = [rouge_tokens(article.lead) for article in articles]
        self._paragraphs = [article.paragraphs for article in articles]
        if not any(self._paragraphs):
            raise ValueError("the validation shards hold no paragraph")

    def measure(self, model: Ranker, device: torch.device) -> dict[str, float]:
        """`validation_loss`, means of scores and labels, `rougeL_recall_5` and so on, in 0..1."""
        logits = pool_logits(model, self._pool, self._batch_tokens, device)
        ends = np.cumsum([len(paragraphs) for paragraphs in self._paragraphs])
        recalls = [
            _recalls(best_first(some.tolist()), paragraphs, lead)
            for some, paragraphs, lead in zip(
                np.split(logits, ends[:-1]), self._paragraphs, self._leads, strict=True
            )
        ]
        return {
            "validation_loss": mean_loss(logits, self._pool.labels),
            "mean_score": float(expit(logits).mean(dtype=np.float64)),
            "mean_label": float(self._pool.labels.mean(dtype=np.float64)),
            **dict(zip(RECALLS, np.mean(recalls, 0).tolist(), strict=True)),
        }


def _recalls(order: list[int], paragraphs: list[str], lead: list[str]) -> list[float]:
    """Return the recalls at all cuts; only what is judged is parted into words."""
    best = [rouge_tokens(paragraphs[i]) for i in order[: max(CUTS)]]
    return recalls_at(range(len(best)), best, lead)


def some_groups(groups: Sequence[RowGroup], articles: int) -> list[RowGroup]:
    """Return the first row groups that hold so many articles together, or all."""
    found: list[RowGroup] = []
    for group in groups:
        if sum(g.rows for g in found) >= articles:
            break
        found.append(group)
    return found
