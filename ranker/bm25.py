"""BM25 of paragraphs for the title as a query (Robertson & Zaragoza 2009, section 3.2)."""

import math
from collections import Counter
from collections.abc import Sequence

K1, B = 1.2, 0.75


def bm25_scores(title_terms: Sequence[str], paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each paragraph (as terms) for the title's distinct terms.

    The sum over title terms w of idf(w) * n / (n + K1 * (1 - B + B * length / mean length)), with
    n the count of w in the paragraph and idf(w) = log(1 + (N - N_w + 0.5) / (N_w + 0.5)) over the
    given paragraphs, which is never negative.
    """
    wanted = set(title_terms)
    counts = [Counter(filter(wanted.__contains__, terms)) for terms in paragraphs]
    holders = Counter(term for count in counts for term in count)
    size = len(paragraphs)
    idf = sorted(  # sums in one order, whatever the hash seed
        (term, math.log1p((size - n + 0.5) / (n + 0.5))) for term, n in holders.items()
    )
    mean = sum(map(len, paragraphs)) / max(size, 1)
    scores = []
    for count, terms in zip(counts, paragraphs, strict=True):
        norm = K1 * (1 - B + B * len(terms) / max(mean, 1))
        scores.append(float(sum(weight * count[t] / (count[t] + norm) for t, weight in idf)))
    return scores
