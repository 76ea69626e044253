import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from wikisum.ranker import cosines
from wikisum.ranker.cosines import similar_pairs, term_counts, tfidf_vectors

PARAGRAPHS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=7), max_size=9)


def literal_cosines(paragraphs):
    """Equation 25 and the cosine, as written."""

    def vector(paragraph):
        holders = {w: sum(w in p for p in paragraphs) for w in set(paragraph)}
        return {w: paragraph.count(w) * math.log(len(paragraphs) / n) for w, n in holders.items()}

    vectors = [vector(p) for p in paragraphs]
    found = {}
    for i, a in enumerate(vectors):
        for j in range(i + 1, len(vectors)):
            b = vectors[j]
            dot = sum(v * b.get(w, 0.0) for w, v in a.items())
            if dot:
                found[i, j] = dot / math.hypot(*a.values()) / math.hypot(*b.values())
    return found


def test_counts():
    counts = term_counts([["b", "a", "b"], [], ["a"]])
    assert counts.toarray().tolist() == [[2, 1], [0, 0], [0, 1]]


@pytest.mark.slow
@given(PARAGRAPHS)
def test_pairs_equal_the_formula(paragraphs):
    rows, columns, weights = similar_pairs(tfidf_vectors(paragraphs), 0.2)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    expected = {pair: w for pair, w in literal_cosines(paragraphs).items() if round(w, 6) >= 0.2}
    assert pairs == sorted(expected)
    assert weights.tolist() == pytest.approx([expected[pair] for pair in pairs], abs=6e-7)


@pytest.mark.slow
@given(PARAGRAPHS)
def test_blocks_change_nothing(paragraphs):
    whole = similar_pairs(tfidf_vectors(paragraphs), 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cosines, "_BLOCK_ROWS", 2)
        parts = similar_pairs(tfidf_vectors(paragraphs), 0.0)
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=7))
def test_vectors_are_those_of_scikit_learn(paragraphs):
    """Its counting and normalizing; its idf adds 1 to that of the papers."""
    counter = CountVectorizer(analyzer=list)
    try:
        counts = counter.fit_transform(paragraphs).toarray()
    except ValueError:  # it refuses an empty vocabulary
        counts = np.zeros((len(paragraphs), 0))
    idf = np.log(len(paragraphs) / np.maximum((counts > 0).sum(0), 1))
    expected = normalize(counts * idf) if counts.size else counts
    found = tfidf_vectors(paragraphs).toarray()
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-12)
