import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.builders import article, document
from wikisum.pipeline import records
from wikisum.pipeline.engine.files import AtomicFile, expand
from wikisum.pipeline.engine.shards import ShardWriter, read_rows

EXAMPLE = records.Example(
    "a" * 16,
    "T",
    "http://u.example/",
    "lead",
    [records.Section("s", 2, "text")],
    [records.SourceDocument("http://d.example/", "citation", 0, "w", 1, "d", "f", 0.5)],
    [records.Paragraph("p", 0, 3, 1.5, 0.25)],
    {"source": [0], "target": [1], "weight": [0.5]},
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
]


@pytest.mark.parametrize(("record", "schema"), ALL, ids=lambda x: type(x).__name__)
def test_every_record_comes_back_from_parquet(record, schema, tmp_path):
    with ShardWriter(str(tmp_path), "shard.parquet", schema, {"k": "v"}) as writer:
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


def test_columns_and_fields_stand_in_one_order():
    for record, schema in ALL:
        assert list(record._fields) == schema.names


def test_row_groups_fit_training_and_empty_shards_have_a_schema(tmp_path):
    with ShardWriter(str(tmp_path), "many.parquet", records.WANTED, {}) as writer:
        for i in range(600):
            writer.write(records.WantedUrl(f"http://u.example/{i}", "a", "search", i))
    file = pq.ParquetFile(tmp_path / "many.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [256, 256, 88]
    assert writer.file.rows == 600
    with ShardWriter(str(tmp_path), "none.parquet", records.WANTED, {}):
        pass
    assert pq.read_table(tmp_path / "none.parquet").schema.equals(records.WANTED)


def test_a_failed_shard_leaves_nothing(tmp_path):
    with (
        pytest.raises(pa.ArrowInvalid),
        ShardWriter(str(tmp_path), "x.parquet", records.WANTED, {}) as writer,
    ):
        writer.write(("u", "a", "search", "no number"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_its_name_only_when_whole(tmp_path):
    with AtomicFile(str(tmp_path / "f")) as file:
        file.write(b"half")
        assert not (tmp_path / "f").exists()
    assert (tmp_path / "f").read_bytes() == b"half"
    with pytest.raises(KeyError), AtomicFile(str(tmp_path / "g")) as file:
        raise KeyError
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_inputs_are_named_by_what_their_paths_do_not_share(tmp_path):
    for name in ("a/x.gz", "b/x.gz"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"1")
    found = expand([f"{tmp_path}/*/x.gz", f"{tmp_path}/a/x.gz"])
    assert [f.name for f in found] == ["a/x.gz", "b/x.gz"]
    assert [f.name for f in expand([f"{tmp_path}/a/x.gz"])] == ["x.gz"]
    with pytest.raises(FileNotFoundError, match="nothing"):
        expand([f"{tmp_path}/nothing*"])
    with pytest.raises(IsADirectoryError):
        expand([str(tmp_path)])
