from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import article, document
from wikisum.pipeline import records
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.records import Float32, Int8, Section, schema_of

GRAPH = {"source": [0], "target": [1], "weight": [0.5]}
EXAMPLE = records.Example(
    "a" * 16,
    "T",
    "http://u.example/",
    "lead",
    [records.Section("s", 2, "text")],
    [records.SourceDocument("http://d.example/", "citation", 0, "w", 1, "d", "f", 0.5)],
    [records.Paragraph("p", 0, 3, 1.5, 0.25)],
    GRAPH,
    None,
    [1, 65_535],
    [2],
    [[3], []],
)
ALL = [
    (article(), records.ARTICLE),
    (document(), records.DOCUMENT),
    (records.WantedUrl("http://u.example/", "a", "search", 3), records.WANTED),
    (records.Capture("u", "s", "c", "w", 1, 2, "d", "m", 200, "t", 0), records.CAPTURE),
    (records.Dropped("record", None, None, "scan", "bad_record", "w", 7), records.DROPPED),
    (records.Query(1 << 40, "T", "T s"), records.QUERY),
    (records.Candidate(1 << 40, 1.25, "http://u.example/", "https://u.example"), records.CANDIDATE),
    (records.Outcome("u", "fetched", "", 200, "f", "live-00000.warc.gz", "t"), records.OUTCOME),
    (records.Outcome("u", "dns_failed", "d", None, None, "", "t"), records.OUTCOME),
    (records.Sizes("a", 1, 2, 3, 4, 5, 6, 7, 8, 0.5), records.SIZES),
    (EXAMPLE, records.EXAMPLE),
    (records.Graphs("a", GRAPH, {"source": [], "target": [], "weight": []}), records.GRAPHS),
    (records.WantedUrl("u", "a", "citation", 0, "wikipedia_itself"), records.WANTED),
]


@pytest.mark.parametrize(("record", "schema"), ALL, ids=lambda x: type(x).__name__)
def test_every_record_comes_back_from_parquet(record, schema, tmp_path):
    with open_shard(str(tmp_path), "shard.parquet", schema, {"k": "v"}) as writer:
        writer.write(record)
    file = pq.ParquetFile(tmp_path / "shard.parquet")
    assert file.schema_arrow.equals(schema)
    assert file.schema_arrow.metadata == {b"k": b"v"}
    (row,) = read_rows(str(tmp_path / "shard.parquet"))
    if schema is records.EXAMPLE:
        assert records.example_from_row(row) == record
    elif schema is records.ARTICLE:
        assert records.article_from_row(row) == record
    else:
        assert type(record)(**row) == record


def test_records_are_ordered_by_their_columns_missing_values_first():
    first = records.Dropped(kind="record", article=None, url=None, stage="s", reason="r")
    ordered = [
        first,
        first._replace(file="f"),
        first._replace(file="f", offset=9),
        first._replace(file="f", offset=10),
        first._replace(article="a"),
    ]
    assert sorted(ordered[::-1], key=records.column_order) == ordered


def test_columns_and_fields_stand_in_one_order():
    for record, schema in ALL:
        assert list(record._fields) == schema.names


class Nested(NamedTuple):
    name: str
    small: Int8
    items: list[Section]
    weight: Float32 | None = None


def test_a_schema_has_a_column_for_each_field():
    section = pa.struct({"title": pa.string(), "level": pa.int8(), "text": pa.string()})
    assert schema_of(Nested) == pa.schema(
        {
            "name": pa.string(),
            "small": pa.int8(),
            "items": pa.list_(pa.field("element", section)),
            "weight": pa.float32(),
        }
    )
