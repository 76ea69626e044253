import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs.edges import Edges
from wikisum.pipeline.records import EXAMPLE, Example, Paragraph, to_table
from wikisum.pipeline.rerank.shard import (
    _metadata,
    page_order,
    read_examples,
    reranked,
    scores_by_method,
)
from wikisum.ranker.data.errors import BadFile

TEXTS = [
    "The river runs past the mill.",
    "A bridge, the bridge of Tavin, stands there.",
    "Nothing is known of it.",
    "Tavin has a bridge.",
]
PLACES = [(0, 1), (1, 0), (0, 0), (1, 4)]


def example(graph=None, ids=((5,), (6, 7), (8,), ())):
    paragraphs = [
        Paragraph(text, document, position, 9.0 - i, i / 10)
        for i, (text, (document, position)) in enumerate(zip(TEXTS, PLACES, strict=True))
    ]
    edges = Edges([0, 1, 2], [1, 3, 3], [0.5, 0.25, 1.0])._asdict()
    return Example(
        "00", "Tavin Bridge", "u", "A bridge of Tavin.", [], [], paragraphs,
        edges, graph, [1], [2], None if ids is None else [list(i) for i in ids],
    )  # fmt: skip


def test_the_best_come_first_and_all_else_follows_them():
    found = reranked(example(), [0.1, 0.9, 0.2, 0.8], max_paragraphs=3)
    assert [p.text for p in found.paragraphs] == [TEXTS[1], TEXTS[3], TEXTS[2]]
    assert [p.score for p in found.paragraphs] == [0.9, 0.8, 0.2]
    assert [p.rouge2_recall for p in found.paragraphs] == [0.1, 0.3, 0.2]
    assert found.paragraph_ids == [[6, 7], [], [8]]
    # 1-3 is 0-1 now, 2-3 is 2-1, and 0 is gone
    assert found.similarity_graph == {"source": [0, 1], "target": [1, 2], "weight": [0.25, 1.0]}
    assert found.discourse_graph is None
    assert reranked(example(ids=None), [1, 2, 3, 4], 2).paragraph_ids is None


def test_of_equals_the_first_in_the_pages_comes_first():
    assert page_order(example()) == [2, 0, 1, 3]
    found = reranked(example(), [1.0, 1.0, 1.0, 2.0], max_paragraphs=9)
    assert [p.text for p in found.paragraphs] == [TEXTS[i] for i in (3, 2, 0, 1)]


@pytest.mark.slow
@given(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.integers(1, 6))
def test_every_kept_edge_joins_the_same_paragraphs(scores, most):
    plain = example()
    found = reranked(plain, scores, most)
    assert len(found.paragraphs) == min(most, 4)

    def joined(some):
        texts = [p.text for p in some.paragraphs]
        edges = zip(*some.similarity_graph.values(), strict=True)
        return {(frozenset({texts[i], texts[j]}), weight) for i, j, weight in edges}

    kept = {p.text for p in found.paragraphs}
    assert joined(found) == {edge for edge in joined(plain) if edge[0] <= kept}
    ids_of = dict(zip(TEXTS, plain.paragraph_ids, strict=True))
    assert found.paragraph_ids == [ids_of[p.text] for p in found.paragraphs]


def test_a_method_sees_the_paragraphs_in_the_order_of_their_pages():
    assert scores_by_method(example(), "identity", 0) == [-1.0, -2.0, 0.0, -3.0]
    tfidf = scores_by_method(example(), "tfidf", 0)
    assert max(range(4), key=tfidf.__getitem__) == 1
    assert scores_by_method(example(), "oracle", 0)[1] > 0


def test_a_missing_score_is_reported():
    with pytest.raises(ValueError, match="3 scores for 4 paragraphs"):
        reranked(example(), [1.0, 2.0, 3.0], 4)


def foreign_shard(path, **changes):
    """Write a shard of three rows, the last of which is changed."""
    row = to_table([example()], EXAMPLE).to_pylist()[0]
    table = pa.Table.from_pylist([row, row, {**row, **changes}], schema=EXAMPLE)
    pq.write_table(table, path, row_group_size=2)
    return table


def test_examples_of_another_program_are_read(tmp_path):
    path = tmp_path / "train-0.parquet"
    table = foreign_shard(path).append_column("extra", pa.array([1, 2, 3]))
    pq.write_table(table, path)
    found = list(read_examples(str(path)))
    assert [(e.id, [p.text for p in e.paragraphs], e.paragraph_ids) for e in found] == [
        ("00", TEXTS, example().paragraph_ids)
    ] * 3


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"lead": None}, "lead is null"),
        ({"url": None}, "url is null"),
        ({"documents": None}, "documents is null"),
        ({"sections": [None]}, "holds a section or a document that is null"),
        ({"paragraphs": None}, "paragraphs is null"),
        ({"paragraph_ids": [[1]]}, "has 4 paragraphs, but ids of 1"),
    ],
)
def test_a_wrong_row_of_another_program_is_named(tmp_path, changes, fault):
    path = str(tmp_path / "train-0.parquet")
    foreign_shard(path, **changes)
    with pytest.raises(BadFile) as caught:
        list(read_examples(path))
    assert str(caught.value) == f"{path}: row 2: {fault}"


def test_a_wrong_column_of_another_program_is_named(tmp_path):
    path = tmp_path / "train-0.parquet"
    table = foreign_shard(path)
    pq.write_table(table.drop_columns(["documents"]), path)
    with pytest.raises(BadFile, match=r"train-0\.parquet has no column documents"):
        list(read_examples(str(path)))
    texts = pa.array(["a", "b", "c"])
    pq.write_table(table.set_column(table.column_names.index("sections"), "sections", texts), path)
    with pytest.raises(
        BadFile, match=r"train-0\.parquet: sections is of the type string, not list"
    ):
        list(read_examples(str(path)))
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(BadFile, match=r"train-0\.parquet: "):
        list(read_examples(str(path)))


@pytest.mark.parametrize("settings", ["", "[1]", "{", "[" * 100_000])
def test_settings_of_another_program_that_are_no_object_are_named(tmp_path, settings):
    path = str(tmp_path / "train-0.parquet")
    schema = EXAMPLE.with_metadata({"wikisum.settings": settings})
    pq.write_table(pa.Table.from_pylist([], schema=schema), path)
    with pytest.raises(BadFile, match=r"train-0\.parquet: its metadata .* is not a JSON object"):
        _metadata(path, {})


def test_settings_of_the_ranking_join_those_of_the_shard(tmp_path):
    path = str(tmp_path / "train-0.parquet")
    schema = EXAMPLE.with_metadata({"wikisum.settings": '{"a": 1}'})
    pq.write_table(pa.Table.from_pylist([], schema=schema), path)
    found = json.loads(_metadata(path, {"method": "tfidf"})["wikisum.settings"])
    assert found == {"a": 1, "rank": {"method": "tfidf"}}
