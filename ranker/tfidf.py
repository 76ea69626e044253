"""Title against paragraphs by tf-idf: the extractive stage of Liu et al. 2018."""

import math
from collections import Counter
from collections.abc import Sequence


def tfidf_scores(title_terms: Sequence[str], paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """Return the score of each paragraph (as terms) for the title's terms.

    The sum over distinct title terms w of N_w * log(N_d / N_dw), where N_d and N_dw count this
    article's paragraphs only (Liu et al. 2018, section 4.1). A term in no paragraph adds 0.
    """
    wanted = set(title_terms)
    counts = [Counter(filter(wanted.__contains__, terms)) for terms in paragraphs]
    idf = sorted(_idf(counts).items())  # sums in one order, whatever the hash seed
    return [float(sum(c[term] * weight for term, weight in idf)) for c in counts]


def tfidf_cosine_scores(
    title_terms: Sequence[str], paragraphs: Sequence[Sequence[str]]
) -> list[float]:
    """Return the cosine of each paragraph's tf-idf vector with the title's, in 0..1.

    What Liu & Lapata 2019 compare their ranker with. Idf counts the paragraphs; a title term in
    none of them is left out.
    """
    counts = [Counter(terms) for terms in paragraphs]
    idf = _idf(counts)
    title = {t: n * idf[t] for t, n in sorted(Counter(title_terms).items()) if t in idf}
    title_length = math.hypot(*title.values())
    return [_cosine(title, title_length, c, idf) for c in counts]


def _idf(counts: Sequence[Counter[str]]) -> dict[str, float]:
    """log(N_d / N_dw) of every term."""
    holders = Counter(term for count in counts for term in count)
    return {term: math.log(len(counts) / n) for term, n in holders.items()}


def _cosine(
    title: dict[str, float], title_length: float, counts: Counter[str], idf: dict[str, float]
) -> float:
    dot = sum(counts[term] * idf[term] * weight for term, weight in title.items())
    if not dot:
        return 0.0
    # an exact sum, so that equal bags of words tie
    squares = math.fsum((n * idf[term]) ** 2 for term, n in counts.items())
    return min(dot / (title_length * math.sqrt(squares)), 1.0)
