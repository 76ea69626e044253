"""Rankers that look at the lead: bounds for those that may not."""

from collections.abc import Sequence
from itertools import pairwise

from wikisum.ranker.rouge import rouge2_recall


def cheating_scores(lead_terms: Sequence[str], paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """Return the share of the lead's distinct bigrams in each paragraph (as terms).

    |bigrams(p) & bigrams(a)| / |bigrams(a)| (Liu et al. 2018, eq. 1). The ground truth a is the
    lead, the target of the summary.
    """
    wanted = frozenset(pairwise(lead_terms))
    total = max(len(wanted), 1)
    return [len(wanted.intersection(pairwise(terms))) / total for terms in paragraphs]


def oracle_scores(lead: str, paragraphs: Sequence[str]) -> list[float]:
    """The ROUGE-2 recall of each paragraph against the lead: what the learned ranker aims at."""
    return rouge2_recall(paragraphs, lead)
