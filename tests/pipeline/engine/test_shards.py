import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.pipeline import records
from wikisum.pipeline.engine.shards import open_shard


def test_row_groups_fit_training_and_empty_shards_have_a_schema(tmp_path):
    with open_shard(str(tmp_path), "many.parquet", records.WANTED, {}) as writer:
        for i in range(600):
            writer.write(records.WantedUrl(f"http://u.example/{i}", "a", "search", i))
    file = pq.ParquetFile(tmp_path / "many.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(3)] == [256, 256, 88]
    assert writer.file.rows == 600
    with open_shard(str(tmp_path), "none.parquet", records.WANTED, {}):
        pass
    assert pq.read_table(tmp_path / "none.parquet").schema.equals(records.WANTED)
    assert b"ARROW:schema" in file.metadata.metadata  # the exact types, for readers of Arrow


def test_a_failed_shard_leaves_nothing(tmp_path):
    with (
        pytest.raises(pa.ArrowInvalid),
        open_shard(str(tmp_path), "x.parquet", records.WANTED, {}) as writer,
    ):
        writer.write(("u", "a", "search", "no number"))
    assert list(tmp_path.iterdir()) == []
