import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.bm25 import bm25_scores
from wikisum.ranker.rank import rank
from wikisum.ranker.search.bm25 import Collection, term_weights
from wikisum.ranker.search.bm25 import idf as search_idf

WORDS = st.lists(st.sampled_from("abcdef"), max_size=8)


def test_by_hand():
    """Two of three paragraphs hold the term; lengths 2, 3, 1, of mean 2."""
    idf = math.log(1 + 1.5 / 2.5)
    long = 0.25 + 0.75 * 1.5
    expected = [idf * 1 / (1 + 1.2), idf * 2 / (2 + 1.2 * long), 0.0]
    assert bm25_scores(["old", "mill"], [["the", "mill"], ["mill", "mill", "a"], ["b"]]) == (
        pytest.approx(expected)
    )


@given(WORDS, st.lists(WORDS, min_size=1, max_size=5))
def test_agrees_with_the_search_over_fields(title, paragraphs):
    """BM25F with text alone is BM25."""
    terms = sorted(set(title))
    holders = np.array([sum(t in p for p in paragraphs) for t in terms])
    sizes = np.array([[0, 0, len(p)] for p in paragraphs])
    collection = Collection(len(paragraphs), sizes.sum(0))
    found = bm25_scores(title, paragraphs)
    for score, paragraph, lengths in zip(found, paragraphs, sizes, strict=True):
        counts = np.array([[0] * len(terms), [0] * len(terms), [paragraph.count(t) for t in terms]])
        weights = term_weights(counts, lengths, search_idf(holders, len(paragraphs)), collection)
        if sizes.sum() >= len(paragraphs):  # a shorter mean is taken as 1 here
            assert score == pytest.approx(weights.sum())


def test_nothing_to_rank():
    assert bm25_scores(["mill"], []) == []
    assert bm25_scores([], [["mill"]]) == [0.0]


def test_is_a_ranking_method():
    paragraphs = ["It was sold.", "The mill was old.", "The mill mill."]
    assert rank("bm25", "Mill", paragraphs) == [2, 1, 0]
