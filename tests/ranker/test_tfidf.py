import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.select import best_within
from wikisum.ranker.tfidf import tfidf_scores

TERMS = st.lists(st.sampled_from(["cat", "dog", "fish", "bird"]), max_size=6)


def test_matches_hand_calculation():
    scores = tfidf_scores(["cat"], [["cat", "cat"], ["dog"]])
    assert scores == pytest.approx([2 * math.log(2), 0.0])


def test_a_term_of_every_paragraph_or_of_none_adds_nothing():
    assert tfidf_scores(["cat", "bird"], [["cat"], ["cat", "dog"]]) == [0.0, 0.0]
    assert tfidf_scores(["cat"], []) == []


@given(TERMS, st.lists(TERMS, min_size=1, max_size=5))
def test_scores_follow_their_paragraphs(title, paragraphs):
    forward = tfidf_scores(title, paragraphs)
    assert forward == pytest.approx(tfidf_scores(title, paragraphs[::-1])[::-1])
    assert all(score >= 0 for score in forward)


def test_best_within_a_budget():
    order, lengths = [2, 0, 1], [5, 5, 5]
    assert best_within(order, lengths, 2) == [2, 0]
    assert best_within(order, lengths, 9, 10) == [2, 0]
    assert best_within(order, lengths, 9, 1) == [2]
    assert best_within([], [], 9, 1) == []
