"""Title against paragraphs by tf-idf: the extractive stage of Liu et al. 2018."""

import math
from collections import Counter
from collections.abc import Sequence


def tfidf_scores(title: Sequence[str], paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """The score of each paragraph (as terms) for the title's terms.

    The sum over distinct title terms w of N_w * log(N_d / N_dw), where N_d and N_dw count this
    article's paragraphs only (Liu et al. 2018, section 4.1). A term in no paragraph adds 0.
    """
    counts = [Counter(terms) for terms in paragraphs]
    idf = {}
    for term in sorted(set(title)):  # sums in one order, whatever the hash seed
        if holders := sum(term in c for c in counts):
            idf[term] = math.log(len(counts) / holders)
    return [sum(c[term] * weight for term, weight in idf.items()) for c in counts]
