"""Does a model attend to the paragraphs that the lead is about? The measure of the PHT paper."""

import math
from collections.abc import Sequence

from wikisum.crawl.tokens import terms
from wikisum.ranker.tfidf import tfidf_cosine_scores


def gold_attention(lead: str, paragraphs: Sequence[str]) -> list[float]:
    """Return the share of each paragraph in the tf-idf similarity to the lead; sums to 1.

    Similarities are cosines with idf log(N_d / N_dw) over the paragraphs; all are 0 if no term of
    the lead tells the paragraphs apart.
    """
    scores = tfidf_cosine_scores(terms(lead), [terms(text) for text in paragraphs])
    whole = math.fsum(scores)
    return [score / whole for score in scores] if whole else scores


def attention_cosine(
    lead: str, paragraphs: Sequence[str], attention: Sequence[float]
) -> float | None:
    """Return the cosine of a model's attention to paragraphs with `gold_attention`, in 0..1.

    `attention` has a weight per paragraph, summed or averaged over layers and target positions:
    its scale does not matter. None if either has no weight at all.
    """
    gold = gold_attention(lead, paragraphs)
    lengths = math.hypot(*gold) * math.hypot(*attention)
    if not lengths:
        return None
    products = (g * a for g, a in zip(gold, attention, strict=True))
    return min(math.fsum(products) / lengths, 1.0)
