"""All ranking methods by name."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from wikisum.crawl.tokens import terms
from wikisum.ranker.bm25 import bm25_scores
from wikisum.ranker.lexrank import lexrank_scores, thresholded_lexrank_scores
from wikisum.ranker.oracle import cheating_scores, oracle_scores
from wikisum.ranker.sumbasic import sumbasic_order
from wikisum.ranker.textrank import textrank_scores
from wikisum.ranker.tfidf import tfidf_cosine_scores, tfidf_scores


class _Article(NamedTuple):
    title: str
    paragraphs: Sequence[str]
    lead: str
    seed: int

    def paragraph_terms(self) -> list[list[str]]:
        return [terms(paragraph) for paragraph in self.paragraphs]


def rank(
    method: str, title: str, paragraphs: Sequence[str], lead: str | None = None, seed: int = 0
) -> list[int]:
    """Return the indexes of the paragraphs, best first; ties keep the given order.

    `method` is one of `METHODS`. `lead` is for those of `METHODS_WITH_LEAD`, `seed` for `random`.
    Raises ValueError for another method, or if the lead is missing.
    """
    return best_first(method_scores(method, title, paragraphs, lead, seed))


def method_scores(
    method: str, title: str, paragraphs: Sequence[str], lead: str | None = None, seed: int = 0
) -> list[float]:
    """Return the score of each paragraph under a method, higher is better; arguments as in `rank`.

    Methods that only give an order score 0 for the first, -1 for the second, and so on.
    """
    if method not in METHODS:
        raise ValueError(f"no ranking method {method!r}: one of {', '.join(METHODS)}")
    if method in METHODS_WITH_LEAD and lead is None:
        raise ValueError(f"ranking method {method!r} needs the lead")
    return METHODS[method](_Article(title, paragraphs, lead or "", seed))


def best_first(scores: Sequence[float]) -> list[int]:
    """Return indexes by descending score; ties keep their order."""
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def _random(article: _Article) -> list[float]:
    source = random.Random(f"{article.seed} {article.title}")
    return [source.random() for _ in article.paragraphs]


def _scores_of_order(order: Sequence[int]) -> list[float]:
    scores = [0.0] * len(order)
    for position, index in enumerate(order):
        scores[index] = -float(position)
    return scores


METHODS: dict[str, Callable[[_Article], list[float]]] = {
    "identity": lambda a: _scores_of_order(range(len(a.paragraphs))),
    "random": _random,
    "tfidf": lambda a: tfidf_scores(terms(a.title), a.paragraph_terms()),
    "tfidf_cosine": lambda a: tfidf_cosine_scores(terms(a.title), a.paragraph_terms()),
    "bm25": lambda a: bm25_scores(terms(a.title), a.paragraph_terms()),
    "textrank": lambda a: textrank_scores(a.paragraph_terms()),
    "lexrank": lambda a: lexrank_scores(a.paragraph_terms()),
    "lexrank_threshold": lambda a: thresholded_lexrank_scores(a.paragraph_terms()),
    "sumbasic": lambda a: _scores_of_order(sumbasic_order(a.paragraph_terms())),
    "cheating": lambda a: cheating_scores(terms(a.lead), a.paragraph_terms()),
    "oracle": lambda a: oracle_scores(a.lead, a.paragraphs),
}
METHODS_WITH_LEAD = frozenset({"cheating", "oracle"})
LEARNED = "lstm"  # the name of the trained ranker (`ranker.score`), which is no function here
