import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.tfidf import tfidf_cosine_scores, tfidf_scores

TERMS = st.lists(st.sampled_from("abcdef"), max_size=6)
PARAGRAPHS = st.lists(TERMS, max_size=6)


def test_matches_hand_calculation():
    # idf: cat ln 2, dog ln 2, the ln 1 = 0; the title's vector is (ln 2, 0)
    scores = tfidf_cosine_scores(["cat", "yak"], [["cat", "dog", "the"], ["the"]])
    assert scores == pytest.approx([1 / math.sqrt(2), 0.0])


def test_nothing_to_score():
    for scores in (tfidf_scores, tfidf_cosine_scores):
        assert scores(["cat"], []) == []
        assert scores([], [["cat"], []]) == [0.0, 0.0]
        assert scores(["cat"], [["cat"], ["cat"]]) == [0.0, 0.0]


@given(TERMS, PARAGRAPHS)
def test_sum_equals_the_formula(title, paragraphs):
    expected = []
    for paragraph in paragraphs:
        score = 0.0
        for term in set(title):
            holders = sum(term in other for other in paragraphs)
            if holders:
                score += paragraph.count(term) * math.log(len(paragraphs) / holders)
        expected.append(score)
    assert tfidf_scores(title, paragraphs) == pytest.approx(expected)


@pytest.mark.slow
@given(TERMS, PARAGRAPHS)
def test_cosine_equals_scikit_learn(title, paragraphs):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    if not any(paragraphs):
        return
    vectorizer = CountVectorizer(analyzer=list)
    counts = vectorizer.fit_transform(paragraphs).toarray()
    idf = [math.log(len(paragraphs) / (column > 0).sum()) for column in counts.T]
    query = vectorizer.transform([title]).toarray()
    expected = cosine_similarity(query * idf, counts * idf)[0]
    assert tfidf_cosine_scores(title, paragraphs) == pytest.approx(expected, abs=1e-9)


@given(TERMS, PARAGRAPHS)
def test_scores_follow_their_paragraphs(title, paragraphs):
    for scores in (tfidf_scores, tfidf_cosine_scores):
        assert scores(title, paragraphs) == scores(title, paragraphs[::-1])[::-1]
