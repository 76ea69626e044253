import copy

import pytest

from tests.builders import LEAD
from wikisum.pipeline.validate.rows import row_faults

GRAPH = {"source": [0, 0], "target": [1, 2], "weight": [0.5, 0.25]}
ROW = {
    "title": "Cheese",
    "lead": LEAD,
    "documents": [
        {"url": "http://a/", "source": "citation"},
        {"url": "http://b/", "source": "search"},
    ],
    "paragraphs": [
        {"text": "Twelve men painted it green.", "document": 0, "score": 3.0},
        {"text": "The paint came by ship.", "document": 1, "score": 3.0},
        {"text": "It rained for a week.", "document": 0, "score": 0.0},
    ],
    "similarity_graph": GRAPH,
    "discourse_graph": None,
    "title_ids": [1],
    "lead_ids": [2, 9],
    "paragraph_ids": [[3], [], [4]],
}


def faults(vocab_size: int | None = 10, clone_threshold: float = 0.5, **changes) -> list[str]:
    return list(row_faults({**copy.deepcopy(ROW), **changes}, vocab_size, clone_threshold))


def changed(name: str, number: int, **values) -> dict:
    """The row's list `name` with other values in one of its items."""
    items = copy.deepcopy(ROW[name])
    items[number].update(values)
    return {name: items}


def test_a_sound_row_has_no_fault():
    assert faults() == []
    assert faults(None, paragraph_ids=None, title_ids=None, lead_ids=None) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"lead": " \n"}, "lead: is empty"),
        (changed("documents", 1, url="http://a/"), "documents: a URL occurs twice"),
        (changed("documents", 1, source="guess"), "documents: 'guess' is not a source"),
        (changed("paragraphs", 1, document=2), "paragraphs: 1 is of document 2 of 2"),
        (changed("paragraphs", 1, document=-1), "paragraphs: 1 is of document -1 of 2"),
        (changed("paragraphs", 1, score=3.5), "paragraphs: not best first"),
        (changed("paragraphs", 2, text=LEAD), "paragraphs: 2 contains the lead"),
        ({"paragraph_ids": [[3], []]}, "ids: not one list per paragraph"),
        ({"title_ids": []}, "ids: none of the title"),
        ({"lead_ids": []}, "ids: none of the lead"),
        ({"lead": None}, "lead: is null"),
        ({"lead_ids": [10]}, "ids: 10 is not in the vocabulary of 10"),
        ({"title_ids": [11, 2]}, "ids: 11 is not in the vocabulary of 10"),
        ({"paragraph_ids": [[3], [], [12]]}, "ids: 12 is not in the vocabulary of 10"),
    ],
)
def test_each_fault_is_named(changes, fault):
    assert faults(**changes) == [fault]


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"source": [1, 0]}, "edge 1-1 is out of order or bounds (3 paragraphs)"),
        ({"target": [1, 3]}, "edge 0-3 is out of order or bounds (3 paragraphs)"),
        ({"source": [-1, 0]}, "edge -1-1 is out of order or bounds (3 paragraphs)"),
        ({"target": [1, 1]}, "an edge occurs twice"),
        ({"weight": [0.5, 0.0]}, "a weight is not positive"),
        ({"weight": [0.5, float("nan")]}, "a weight is not positive"),
        ({"weight": [0.5, float("inf")]}, "a weight is infinite"),
        ({"weight": [0.5]}, "its columns differ in length"),
        ({"target": [1]}, "its columns differ in length"),
    ],
)
@pytest.mark.parametrize("name", ["similarity_graph", "discourse_graph"])
def test_each_fault_of_a_graph_is_named(name, columns, fault):
    assert faults(**{name: {**GRAPH, **columns}}) == [f"{name}: {fault}"]


def test_nothing_to_summarize_is_a_fault():
    empty = {"paragraphs": [], "paragraph_ids": [], "similarity_graph": None}
    assert faults(**empty) == ["paragraphs: none"]
    assert "paragraphs: none" in faults(documents=[])


def test_an_empty_text_has_no_ids():
    assert faults(title="", title_ids=[]) == []


def test_a_paragraph_at_the_threshold_is_no_copy_of_the_lead():
    copied = changed("paragraphs", 2, text=LEAD)
    assert faults(clone_threshold=1.0, **copied) == []


def test_ids_are_not_compared_with_an_unknown_vocabulary():
    assert faults(None, lead_ids=[65_000]) == []
