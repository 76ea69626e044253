from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.select import (
    best_within,
    extractive_summary,
    lead_sentences,
    lead_summary,
    without_near_duplicates,
)


def test_paragraphs_and_tokens_are_bounded():
    lengths = [5, 4, 3, 2]
    assert best_within([2, 0, 3, 1], lengths, 3) == [2, 0, 3]
    assert best_within([2, 0, 3, 1], lengths, 4, 9) == [2, 0]  # the third would make it 10
    assert best_within([0, 1], lengths, 4, 3) == [0]
    assert best_within([], lengths, 4, 3) == []
    assert best_within([0], lengths, 0, 3) == []


@given(
    st.permutations(range(6)),
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.integers(1, 7),
    st.integers(0, 40),
)
def test_keeps_the_longest_start_that_fits(order, lengths, most, tokens):
    kept = best_within(order, lengths, most, tokens)
    assert kept == order[: len(kept)]
    assert 1 <= len(kept) <= most
    total = sum(lengths[i] for i in kept)
    assert len(kept) == 1 or total <= tokens
    if len(kept) < min(most, 6):
        assert total + lengths[order[len(kept)]] > tokens


def test_summaries_have_the_target_length():
    paragraphs = ["one two three.", "four five."]
    assert lead_summary("The title", [1, 0], paragraphs, 5) == "The title four five. one"
    assert extractive_summary([1, 0], paragraphs, 3) == "four five. one"
    assert extractive_summary([1], paragraphs, 9) == "four five."
    assert extractive_summary([1], paragraphs, 0) == lead_summary("T", [], [], 0) == ""


def test_lead_k_takes_sentences():
    paragraphs = ["One is. Two is.", "Three is. Four is."]
    assert lead_sentences(paragraphs) == "One is. Two is. Three is."
    assert lead_sentences(paragraphs, 1) == "One is."


def test_near_duplicates_by_hand():
    words = [
        ["a", "b", "c", "d", "e"],
        ["a", "b", "c", "d", "f"],
        ["a", "b", "c", "d", "e", "g", "h", "i"],
        ["a"],
    ]
    assert without_near_duplicates([0, 1, 2, 3], words, 0.7, 9) == ([0, 2, 3], [1])
    assert without_near_duplicates([2, 0, 1, 3], words, 0.7, 9) == ([2, 3], [0, 1])
    assert without_near_duplicates([0, 1, 2, 3], words, 0.75, 9) == ([0, 1, 2, 3], [])
    assert without_near_duplicates([0, 1, 2, 3], words, 0.7, 1) == ([0], [])


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=8), max_size=8))
def test_no_kept_paragraph_repeats_a_better_one(words):
    kept, left_out = without_near_duplicates(range(len(words)), words, 0.5, 99)
    assert sorted(kept + left_out) == list(range(len(words)))
    pairs = [set(pairwise(words[i])) for i in kept]
    for i, own in enumerate(pairs):
        assert all(2 * len(own & better) <= len(own) for better in pairs[:i])
