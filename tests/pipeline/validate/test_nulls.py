import copy
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from tests.builders import LEAD
from wikisum.pipeline.records import EXAMPLE
from wikisum.pipeline.validate.nulls import GRAPH_COLUMNS, ID_COLUMNS, null_faults
from wikisum.pipeline.validate.rows import row_faults
from wikisum.ranker.data.check import table_fault

GRAPH = {"source": [0], "target": [1], "weight": [0.5]}
DOCUMENT = {"source": "citation", "rank": 0, "warc_file": "f", "offset": 0, "digest": "d",
            "fetched_at": "t", "clone_score": 0.0}  # fmt: skip
PARAGRAPH = {"document": 0, "position": 0, "score": 1.0, "rouge2_recall": 0.5}
ROW = {
    "id": "f" * 16,
    "title": "Cheese",
    "url": "u",
    "lead": LEAD,
    "sections": [{"title": "History", "level": 2, "text": "Old."}],
    "documents": [{"url": "http://a/", **DOCUMENT}, {"url": "http://b/", **DOCUMENT}],
    "paragraphs": [{"text": "one", **PARAGRAPH}, {"text": "two", **PARAGRAPH}],
    "similarity_graph": GRAPH,
    "discourse_graph": copy.deepcopy(GRAPH),
    "title_ids": [1],
    "lead_ids": [2, 9],
    "paragraph_ids": [[3], [4]],
    "categories": ["Food"],
}
ALL = frozenset((*GRAPH_COLUMNS, *ID_COLUMNS))
Place = tuple[str | int, ...]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """The place of each value inside a value."""
    pairs: list = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, inner in pairs:
        yield (*at, key)
        yield from places(inner, (*at, key))


def with_null(place: Place) -> dict:
    row = copy.deepcopy(ROW)
    inside: Any = row
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = None
    return row


def faults(row: dict, made: frozenset[str]) -> list[str]:
    return list(row_faults(row, 10, 0.5, made))


def readers_fault(row: dict) -> object:
    return table_fault(pa.Table.from_pylist([row], schema=EXAMPLE), 10)


def test_any_cell_that_becomes_null_is_one_fault_of_its_column():
    assert faults(ROW, ALL) == []
    found = list(places(ROW))
    assert len(found) == 67
    for place in found:
        (fault,) = faults(with_null(place), ALL)
        assert fault.startswith(f"{place[0]}: "), place
        assert fault.endswith("is null"), place


def test_a_graph_may_be_null_where_none_is_made_and_nothing_else():
    free = [place for place in places(ROW) if not faults(with_null(place), frozenset())]
    assert free == [("similarity_graph",), ("discourse_graph",)]


def test_all_ids_are_there_or_none():
    without = {**ROW, **dict.fromkeys(ID_COLUMNS)}
    assert faults(without, frozenset()) == []
    assert faults(without, ALL) == [f"{name}: is null" for name in ID_COLUMNS]
    assert faults({**without, "lead_ids": [2]}, frozenset()) == [
        "title_ids: is null",
        "paragraph_ids: is null",
    ]


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        (("title",), "title: is null"),
        (("lead_ids", 1), "lead_ids: [1] is null"),
        (("paragraph_ids", 1), "paragraph_ids: [1] is null"),
        (("paragraph_ids", 1, 0), "paragraph_ids: [1][0] is null"),
        (("similarity_graph", "source"), "similarity_graph: source is null"),
        (("similarity_graph", "weight", 0), "similarity_graph: weight[0] is null"),
        (("paragraphs", 0), "paragraphs: [0] is null"),
        (("paragraphs", 1, "text"), "paragraphs: [1].text is null"),
        (("categories", 0), "categories: [0] is null"),
    ],
)
def test_the_place_of_the_null_is_named(place, fault):
    assert list(null_faults(with_null(place), ALL)) == [fault]


@pytest.mark.parametrize(
    "changes",
    [
        {"similarity_graph": {**GRAPH, "weight": [weight]}}
        for weight in (float("inf"), float("-inf"), float("nan"), -1.0, None)
    ]
    + [
        {"similarity_graph": dict.fromkeys(GRAPH)},
        {"similarity_graph": {**GRAPH, "source": [None]}},
        {"similarity_graph": {**GRAPH, "target": [2]}},
        {"similarity_graph": {**GRAPH, "target": [0]}},
        {"similarity_graph": {**GRAPH, "source": [0, 1]}},
        {"title": None},
        {"paragraphs": None},
        {"paragraphs": [], "discourse_graph": None, "paragraph_ids": []},
        {"lead_ids": [None, 3]},
        {"title_ids": [10]},
        {"paragraph_ids": [[3], None]},
        {"paragraph_ids": [[3]]},
    ],
)
def test_what_the_readers_refuse_is_a_fault(changes):
    row = {**ROW, **changes}
    assert readers_fault(row) is not None
    assert faults(row, frozenset())
