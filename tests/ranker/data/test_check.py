"""Rows that no build writes are found, with their number."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.pipeline.records import EXAMPLE
from wikisum.ranker.data.check import table_fault
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.shards import read_group, row_groups, split_shards

GRAPH = {"source": [0], "target": [1], "weight": [0.5]}


def example(number: int, **changes) -> dict:
    text = {"document": 0, "position": 0, "score": 1.0, "rouge2_recall": 0.5}
    return {
        "id": f"{number:016x}", "title": "Cheese", "url": "u", "lead": "It is food.",
        "sections": [], "documents": [], "categories": [],
        "paragraphs": [{"text": "one", **text}, {"text": "two", **text}],
        "similarity_graph": GRAPH, "discourse_graph": None,
        "title_ids": [7], "lead_ids": [7, 8], "paragraph_ids": [[7], [9]], **changes,
    }  # fmt: skip


def fault_of(**changes) -> str | None:
    """The fault of a table whose third row is changed."""
    rows = [example(0), example(1), example(2, **changes), example(3)]
    fault = table_fault(pa.Table.from_pylist(rows, schema=EXAMPLE), vocab_size=10)
    return fault and f"{fault.row}: {fault.text}"


def edges(source, target, weight) -> dict:
    return {"similarity_graph": {"source": source, "target": target, "weight": weight}}


def test_a_sound_table_has_no_fault():
    assert fault_of() is None
    without = dict.fromkeys(("similarity_graph", "title_ids", "lead_ids", "paragraph_ids"))
    assert fault_of(**without) is None
    assert fault_of(paragraphs=[], paragraph_ids=[], similarity_graph=None) is None


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"lead": None}, "lead is null"),
        ({"title": None}, "title is null"),
        ({"lead_ids": [1, 10]}, "lead_ids holds the id 10, but the vocabulary has 10 subwords"),
        ({"paragraph_ids": [[1], [2, 65_535]]},
         "paragraph_ids holds the id 65,535, but the vocabulary has 10 subwords"),
        ({"title_ids": [1, None]}, "title_ids holds a null"),
        ({"paragraph_ids": [[1], None]}, "paragraph_ids holds a null"),
        ({"paragraph_ids": [[1]]}, "has 2 paragraphs, but ids of 1"),
        ({"paragraphs": None}, "paragraphs is null"),
        (edges([0], [1], [math.nan]), "similarity_graph has an edge of the weight nan"),
        (edges([0], [1], [math.inf]), "similarity_graph has an edge of the weight inf"),
        (edges([0], [1], [-1.0]), "similarity_graph has an edge of the weight -1.0"),
        (edges([0], [1], [None]), "similarity_graph has an edge with a null"),
        (edges([0, 0], [1], [0.5]), "similarity_graph has columns of unequal length"),
        (edges([0], [1], None), "similarity_graph has columns of unequal length"),
        (edges([0], [2], [0.5]),
         "similarity_graph has an edge to a paragraph beyond the last of 2"),
        (edges([1], [0], [0.5]),
         "similarity_graph has the edge 1-0, not from a lower to a higher paragraph"),
        (edges([-1], [0], [0.5]),
         "similarity_graph has the edge -1-0, not from a lower to a higher paragraph"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_row(changes, fault):
    assert fault_of(**changes) == f"2: {fault}"


@pytest.mark.parametrize(
    ("name", "values", "fault"),
    [
        ("lead_ids", [["7"]], "lead_ids holds string, not integers"),
        ("title_ids", [[0.5]], "title_ids holds double, not integers"),
        ("lead", [7], "lead holds int64, not text"),
        ("paragraphs", ["text"], "paragraphs holds string, not paragraphs"),
        ("similarity_graph", [[1]], "similarity_graph holds list<item: int64>, not the columns"),
        ("similarity_graph", [{"source": 1, "target": 2, "weight": 3}], "not the columns of"),
    ],
)
def test_a_column_of_another_type_is_named(name, values, fault):
    found = table_fault(pa.table({name: values}))
    assert found.row is None
    assert fault in found.text


def test_the_shard_and_the_row_in_it_are_named(tmp_path):
    """The fault is in the second row group."""
    rows = [example(0), example(1), example(2), example(3, lead=None)]
    path = tmp_path / "train-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=EXAMPLE), path, row_group_size=2)
    first, second = row_groups(split_shards(str(tmp_path), "train"))
    assert read_group(first, ["lead"]).num_rows == 2
    with pytest.raises(BadFile, match=r"train-00000-of-00001\.parquet: row 3: lead is null"):
        read_group(second, ["lead"])


def test_a_damaged_footer_names_the_shard(tmp_path):
    path = tmp_path / "train-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist([example(0)], schema=EXAMPLE), path)
    data = bytearray(path.read_bytes())
    footer_bytes = int.from_bytes(data[-8:-4], "little")
    data[-8 - footer_bytes] = 0xFF
    path.write_bytes(data)
    with pytest.raises(OSError, match=r"train-00000-of-00001\.parquet cannot be read"):
        row_groups(split_shards(str(tmp_path), "train"))


def test_columns_that_another_program_left_empty_are_no_fault():
    names = ("discourse_graph", "similarity_graph", "paragraph_ids", "lead_ids")
    texts = [{"text": "one"}]
    assert (
        table_fault(pa.table({"paragraphs": [texts], **{name: [None] for name in names}})) is None
    )
