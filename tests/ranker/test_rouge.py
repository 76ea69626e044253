import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from wikisum.ranker.rouge import lcs_length, rouge, rouge1_recall, rouge2_recall

WORDS = ["the", "Running", "cats", "dog's", "a1", "b", "jumped", "élan", "U.S.", "nationally", "\n"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)
KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]


def agrees(candidate: str, reference: str, stem: bool) -> None:
    trusted = rouge_scorer.RougeScorer(KINDS, use_stemmer=stem).score(reference, candidate)
    ours = rouge(candidate, reference, stem)
    for kind in KINDS:
        score = trusted[kind]
        assert ours[kind] == {
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.fmeasure,
        }, kind


@given(TEXT, TEXT, st.booleans())
def test_equals_rouge_score(candidate, reference, stem):
    agrees(candidate, reference, stem)


@given(TEXT, TEXT)
def test_recalls_alone_are_those_of_the_whole(candidate, reference):
    whole = rouge(candidate, reference)
    assert rouge2_recall([candidate], reference) == [whole["rouge2"]["recall"]]
    assert rouge1_recall([candidate], reference) == whole["rouge1"]["recall"]


def test_by_hand():
    score = rouge("the cat sat on the mat", "the cat was on the mat")
    assert score["rouge1"]["recall"] == 5 / 6
    assert score["rouge2"]["recall"] == 3 / 5
    assert score["rougeL"]["f1"] == pytest.approx(5 / 6)
    assert rouge2_recall(["the cat", "on the mat", ""], "the cat was on the mat") == [
        1 / 5,
        2 / 5,
        0.0,
    ]


def test_summary_level_differs_from_one_sequence():
    candidate, reference = "b two\na one", "a one\nb two"
    assert rouge(candidate, reference)["rougeL"]["f1"] == 0.5
    assert rouge(candidate, reference)["rougeLsum"]["f1"] == 1.0


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_common_subsequence_by_plain_dynamic_programming(first, second):
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, word in enumerate(first):
        for j, other in enumerate(second):
            rows[i + 1][j + 1] = (
                rows[i][j] + 1 if word == other else max(rows[i][j + 1], rows[i + 1][j])
            )
    assert lcs_length(first, second) == rows[-1][-1]
