from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs import entities
from wikisum.graphs.entities import paragraph_entities
from wikisum.graphs.fast_entities import (
    BEGIN,
    INSIDE,
    OUTSIDE,
    Tagger,
    best_labels,
    fast_entities,
    features,
    spans,
    tokenize,
    word_shape,
    zones,
)

WEIGHT = st.integers(-5, 5)
ROW = st.tuples(WEIGHT, WEIGHT, WEIGHT)
NO_TRANSITIONS = [[0, 0, 0]] * 3


def ranges(text):
    tokens = tokenize(text)
    return [[t.text for t in tokens[a:b]] for a, b in zones(tokens)]


def test_tokens_know_their_positions():
    text = "The U.S. Navy's 2nd ship (1890)."
    tokens = tokenize(text)
    assert [t.text for t in tokens] == [
        "The", "U.S.", "Navy", "'", "s", "2nd", "ship", "(", "1890", ")", "."
    ]  # fmt: skip
    assert all(text[t.start : t.end] == t.text for t in tokens)


@pytest.mark.parametrize(
    ("word", "shape"),
    [("ship", "x"), ("NATO", "X"), ("A", "X1"), ("iPad", "Xx"), ("1890", "d"), ("(", "(")],
)
def test_shapes(word, shape):
    assert word_shape(word) == shape


def test_zones_span_small_gaps_and_a_following_number():
    assert ranges("he saw the University of the West and then went to see old Rome") == [
        ["University", "of", "the", "West"],
        ["Rome"],
    ]
    assert ranges("by Apollo 11 again") == [["Apollo", "11"]]
    assert ranges("nothing here") == ranges("") == []


def test_features_stop_at_the_edges():
    assert len(features(tokenize("Rome"), 0)) == len(set(features(tokenize("Rome"), 0)))
    assert "b " in features(tokenize("Rome"), 0)


def test_the_best_sequence_by_hand():
    # INSIDE has the largest weight of both tokens, but no name begins with it
    assert best_labels([(1, 5, 0), (0, 3, 0)], NO_TRANSITIONS) == [BEGIN, INSIDE]
    penalty = [[0, -9, 0], [0, 0, 0], [0, 0, 0]]
    assert best_labels([(1, 5, 0), (0, 3, 2)], penalty) == [BEGIN, OUTSIDE]
    assert best_labels([], NO_TRANSITIONS) == []


def value(labels, emissions, transitions):
    total, before = 0, OUTSIDE
    for label, emission in zip(labels, emissions, strict=True):
        if label == INSIDE and before == OUTSIDE:
            return -float("inf")
        total += transitions[before][label] + emission[label]
        before = label
    return total


@given(st.lists(ROW, min_size=1, max_size=5), st.tuples(ROW, ROW, ROW))
def test_no_sequence_is_better(emissions, transitions):
    found = best_labels(emissions, transitions)
    every = product((BEGIN, INSIDE, OUTSIDE), repeat=len(emissions))
    best = max(value(labels, emissions, transitions) for labels in every)
    assert value(found, emissions, transitions) == best


def test_spans():
    assert list(spans([BEGIN, INSIDE, BEGIN, OUTSIDE, BEGIN])) == [(0, 2), (2, 3), (4, 5)]


def test_names_are_cut_out_of_the_text():
    tagger = Tagger({"w new": (9, 0, 0), "w york": (0, 9, 0)}, [[-1, -1, 0]] * 3)
    assert fast_entities("They left New  York on Monday.", tagger) == ["New  York"]


def test_the_trained_weights_find_names():
    text = "In 1990 Angela Merkel flew from Berlin to the United Nations in New York on Monday."
    assert fast_entities(text) == ["Angela Merkel", "Berlin", "United Nations", "New York"]
    assert fast_entities("nothing of the kind") == []


def test_taggers_are_remembered_apart(monkeypatch):
    entities.forget()
    text = "The envoy met Merkel in Berlin."
    paragraph_entities([text], "fast")
    monkeypatch.setattr(entities, "fast_entities", None)
    assert "Berlin" in paragraph_entities([text], "fast")[0]
    monkeypatch.setattr(entities, "recognizer", None)
    with pytest.raises(TypeError):
        paragraph_entities([text], "spacy")
