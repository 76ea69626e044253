import pytest

from wikisum.ranker.oracle import cheating_scores, oracle_scores


def test_cheating_counts_distinct_bigrams():
    # the lead's bigrams: ab, bc, bb... a b b c -> ab, bb, bc; "a b a b" holds ab once
    lead = ["a", "b", "b", "c"]
    scores = cheating_scores(lead, [["a", "b", "a", "b"], ["b", "b", "c"], ["c"], []])
    assert scores == pytest.approx([1 / 3, 2 / 3, 0, 0])
    assert cheating_scores(["a"], [["a", "b"]]) == [0.0]


def test_oracle_counts_repeats():
    assert oracle_scores("a b a b", ["a b", "A b, a b!", ""]) == pytest.approx([1 / 3, 1, 0])
