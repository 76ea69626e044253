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


def _identity(article: _Article) -> list[float]:
    return _scores_of_order(range(len(article.paragraphs)))


def _random(article: _Article) -> list[float]:
    source = random.Random(f"{article.seed} {article.title}")
    return [source.random() for _ in article.paragraphs]


def _tfidf(article: _Article) -> list[float]:
    return tfidf_scores(terms(article.title), article.paragraph_terms())


def _tfidf_cosine(article: _Article) -> list[float]:
    return tfidf_cosine_scores(terms(article.title), article.paragraph_terms())


def _textrank(article: _Article) -> list[float]:
    return textrank_scores(article.paragraph_terms())


def _lexrank(article: _Article) -> list[float]:
    return lexrank_scores(article.paragraph_terms())


def _lexrank_threshold(article: _Article) -> list[float]:
    return thresholded_lexrank_scores(article.paragraph_terms())


def _bm25(article: _Article) -> list[float]:
    return bm25_scores(terms(article.title), article.paragraph_terms())


def _sumbasic(article: _Article) -> list[float]:
    return _scores_of_order(sumbasic_order(article.paragraph_terms()))


def _cheating(article: _Article) -> list[float]:
    return cheating_scores(terms(article.lead), article.paragraph_terms())


def _oracle(article: _Article) -> list[float]:
    return oracle_scores(article.lead, article.paragraphs)


def _scores_of_order(order: Sequence[int]) -> list[float]:
    scores = [0.0] * len(order)
    for place, index in enumerate(order):
        scores[index] = -float(place)
    return scores


METHODS: dict[str, Callable[[_Article], list[float]]] = {
    "identity": _identity,
    "random": _random,
    "tfidf": _tfidf,
    "tfidf_cosine": _tfidf_cosine,
    "bm25": _bm25,
    "textrank": _textrank,
    "lexrank": _lexrank,
    "lexrank_threshold": _lexrank_threshold,
    "sumbasic": _sumbasic,
    "cheating": _cheating,
    "oracle": _oracle,
}
METHODS_WITH_LEAD = frozenset({"cheating", "oracle"})
LEARNED = "lstm"  # the name of the trained ranker (`ranker.score`), which is no function here
