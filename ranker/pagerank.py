"""PageRank (Page et al. 1999) over an undirected weighted graph, by power iteration."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
DAMPING = 0.85
_TOLERANCE = 1e-13
_MAX_STEPS = 400
_SCORE_DIGITS = 12


def pagerank(weigh: Callable[[Vector], Vector], size: int, damping: float = DAMPING) -> list[float]:
    """Return the stationary probability of each of `size` nodes; they sum to 1.

    `weigh` multiplies a vector with the symmetric matrix of weights, so that it need not exist as
    a whole. A node without edges leads to all alike. Probabilities are rounded to 12 digits:
    nodes that are equal but for rounding errors tie.
    """
    if not size:
        return []
    degrees = weigh(np.ones(size))
    alone = degrees <= 0
    shares = np.divide(1.0, degrees, out=np.zeros(size), where=~alone)
    ranks = np.full(size, 1 / size)
    for _ in range(_MAX_STEPS):
        before = ranks
        lost = before[alone].sum() / size
        ranks = damping * (weigh(before * shares) + lost) + (1 - damping) / size
        if np.abs(ranks - before).sum() < _TOLERANCE:
            break
    return np.round(ranks, _SCORE_DIGITS).tolist()
