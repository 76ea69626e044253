import math

import numpy as np
import pytest

from wikisum.ranker.search.bm25 import (
    FIELD_WEIGHTS,
    LENGTH_SHARES,
    SATURATION,
    Collection,
    idf,
    term_weights,
)

OF = Collection(100, np.array([400, 1000, 20_000]))


def test_idf_by_hand():
    assert idf(np.array([1, 50, 100]), 100).tolist() == pytest.approx(
        [math.log(1 + 99.5 / 1.5), math.log(1 + 50.5 / 50.5), math.log(1 + 0.5 / 100.5)]
    )


def test_idf_is_never_negative_and_falls_with_more_holders():
    found = idf(np.arange(0, 300, 7), 100)
    assert (np.diff(found[:15]) < 0).all()
    assert (found > 0).all()


def test_in_the_text_alone_it_is_plain_bm25():
    counts = np.array([[0], [0], [3]])
    lengths = np.array([0, 0, 250])
    b = LENGTH_SHARES[2]
    expected = 2.0 * 3 / (3 + SATURATION * (1 - b + b * 250 / 200))
    assert term_weights(counts, lengths, np.array([2.0]), OF)[0] == pytest.approx(expected)


def test_fields_are_summed_before_they_saturate():
    counts = np.array([[1, 0], [2, 0], [0, 1]])
    norm = 1 - LENGTH_SHARES + LENGTH_SHARES * np.array([4, 20, 200]) / np.array([4, 10, 200])
    frequency = np.array([
        FIELD_WEIGHTS[0] / norm[0] + 2 * FIELD_WEIGHTS[1] / norm[1],
        FIELD_WEIGHTS[2] / norm[2],
    ])  # fmt: skip
    found = term_weights(counts, np.array([4, 20, 200]), np.array([1.0, 3.0]), OF)
    expected = np.array([1.0, 3.0]) * frequency / (SATURATION + frequency)
    assert found.tolist() == pytest.approx(expected.tolist())


def test_a_field_counts_by_its_weight_and_length_share():
    """Lengths twice the mean: title and headings give up half of that, the text three quarters."""
    lengths, weight = np.array([8, 20, 400]), np.array([1.0])
    for field, frequency in ((0, 5 / 1.5), (1, 3 / 1.5), (2, 1 / 1.75)):
        counts = np.zeros((3, 1))
        counts[field] = 1
        expected = frequency / (1.2 + frequency)
        assert term_weights(counts, lengths, weight, OF)[0] == pytest.approx(expected)


def test_a_title_outweighs_the_text_and_a_long_page_counts_less():
    lengths = np.array([4, 10, 200])
    in_title, in_text = term_weights(
        np.array([[1, 0], [0, 0], [0, 1]]), lengths, np.array([1.0, 1.0]), OF
    )
    assert in_title > in_text
    longer = term_weights(np.array([[0], [0], [1]]), lengths * 10, np.array([1.0]), OF)
    assert longer[0] < in_text


def test_a_collection_without_any_headings_divides_by_nothing():
    empty = Collection(10, np.array([0, 0, 500]))
    found = term_weights(np.array([[0], [0], [1]]), np.array([0, 0, 50]), np.array([1.0]), empty)
    assert np.isfinite(found).all()
