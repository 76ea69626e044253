"""TextRank (Mihalcea & Tarau 2004) with paragraphs as its text units."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wikisum.ranker.cosines import term_counts
from wikisum.ranker.pagerank import pagerank

MAX_NODES = 3_000


def textrank_scores(paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """PageRank of each paragraph (as terms) in the graph of word overlap.

    Every pair has its weight, so the graph grows with the square: paragraphs after the first
    3,000 are left out of it and score 0.
    """
    nodes = paragraphs[:MAX_NODES]
    weights = overlaps(nodes)
    return pagerank(weights.__matmul__, len(nodes)) + [0.0] * (len(paragraphs) - len(nodes))


def overlaps(paragraphs: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """[P, P] distinct terms in common over log|a| + log|b|, where |a| counts all terms of a.

    0 on the diagonal, and for two paragraphs of one term each, where the paper divides by 0.
    """
    held = term_counts(paragraphs)
    held.data[:] = 1
    weights: npt.NDArray[np.float64] = (held @ held.T).toarray()
    logs = np.array([math.log(max(len(terms), 1)) for terms in paragraphs])
    scale = logs[:, None] + logs[None, :]
    np.divide(weights, scale, out=weights, where=scale > 0)
    weights[scale <= 0] = 0
    np.fill_diagonal(weights, 0)
    return weights
