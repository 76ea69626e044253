import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.cosines import tfidf_vectors
from wikisum.ranker.lexrank import lexrank_scores, thresholded_lexrank_scores

PARAGRAPHS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=7)


def cosines(paragraphs):
    vectors = tfidf_vectors(paragraphs).toarray()
    return vectors @ vectors.T


def trusted(weights):
    found = networkx.pagerank(networkx.from_numpy_array(weights), tol=1e-12, max_iter=1000)
    return [found[i] for i in range(len(weights))]


def test_the_middle_of_a_star_comes_first():
    # 1 shares one word with each of the others, which share none among them
    paragraphs = [["a", "x"], ["a", "b", "c"], ["b", "y"], ["c", "z"]]
    for scores in (thresholded_lexrank_scores(paragraphs), lexrank_scores(paragraphs)):
        assert max(range(4), key=scores.__getitem__) == 1
        assert scores[0] == scores[2] == scores[3]
    # with itself, the hub has 4 edges and a leaf 2: h = 0.15 / 4 + 0.85 (h / 4 + 3 l / 2)
    assert thresholded_lexrank_scores(paragraphs)[1] == pytest.approx(0.4625 / 1.2125)
    # no cosine reaches 0.3 (they are 1 / sqrt 15): each has only itself
    assert thresholded_lexrank_scores(paragraphs, 0.3) == [0.25] * 4


@pytest.mark.slow
@given(PARAGRAPHS, st.sampled_from([0.1, 0.3]))
def test_threshold_form_equals_networkx(paragraphs, threshold):
    edges = (np.round(cosines(paragraphs), 6) >= threshold).astype(float)
    found = thresholded_lexrank_scores(paragraphs, threshold)
    assert found == pytest.approx(trusted(edges), abs=1e-9)


@pytest.mark.slow
@given(PARAGRAPHS)
def test_weighted_form_equals_networkx(paragraphs):
    expected = trusted(cosines(paragraphs))
    assert lexrank_scores(paragraphs) == pytest.approx(expected, abs=1e-9)
