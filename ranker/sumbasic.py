"""SumBasic (Nenkova & Vanderwende 2005): frequent words first, and none twice if avoidable."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from wikisum.crawl.tokens import terms
from wikisum.ranker.cosines import term_counts
from wikisum.ranker.sentences import sentences


def sumbasic_order(units: Sequence[Sequence[str]], with_best_word: bool = False) -> list[int]:
    """Return the order in which SumBasic picks units (paragraphs or sentences, as terms).

    Each time the unit whose terms have the highest mean probability, whose terms' probabilities
    are then squared (Liu et al. 2018, section 4.1). `with_best_word` picks among the units that
    hold the most probable term, as the original does. Units without terms come last. Stop words
    count, since a list of them would tie it to one language.
    """
    counts = term_counts(units)
    totals = np.bincount(counts.indices, counts.data, minlength=counts.shape[1])
    probability = totals.astype(np.float64) / max(totals.sum(), 1)
    sizes = np.maximum([len(unit) for unit in units], 1)
    is_left = np.diff(counts.indptr) > 0
    by_term = counts.T.tocsr()
    order: list[int] = []
    for _ in range(int(is_left.sum())):
        allowed = _best_word_holders(by_term, probability, is_left) if with_best_word else is_left
        best = _first_best(np.where(allowed, counts @ probability / sizes, -1.0))
        order.append(best)
        is_left[best] = False
        probability[counts.indices[counts.indptr[best] : counts.indptr[best + 1]]] **= 2
    return order + [i for i, unit in enumerate(units) if not unit]


def _first_best(scores: npt.NDArray[np.float64]) -> int:
    """Return the first of the scores that are the highest but for rounding errors."""
    return int(np.argmax(scores >= scores.max() * (1 - 1e-12)))


def _best_word_holders(
    by_term: sparse.csr_matrix, probability: npt.NDArray[np.float64], is_left: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Which units are left and hold the most probable of the terms that are left."""
    term = _first_best(np.where(by_term @ is_left > 0, probability, -1.0))
    holders = np.zeros_like(is_left)
    holders[by_term.indices[by_term.indptr[term] : by_term.indptr[term + 1]]] = True
    return holders & is_left


def sumbasic_sentences(paragraphs: Sequence[str], target_words: int) -> list[str]:
    """The sentences that SumBasic picks until they have `target_words` words, in picked order.

    The last may pass the target; each distinct sentence is taken once.
    """
    pool = list(dict.fromkeys(s for paragraph in paragraphs for s in sentences(paragraph)))
    picked: list[str] = []
    words = 0
    for index in sumbasic_order([terms(sentence) for sentence in pool]):
        if words >= target_words:
            break
        picked.append(pool[index])
        words += len(pool[index].split())
    return picked
