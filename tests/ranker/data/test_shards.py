import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.ranker.data.shards import (
    RowGroup,
    find_vocab,
    open_folder,
    open_shard,
    read_group,
    row_groups,
    split_shards,
)

TABLE = pa.table(
    {
        "title_ids": [[7, 8], [9], []],
        "paragraphs": [[{"text": "a", "score": 1.0}], [], [{"text": "b", "score": 0.5}]],
    }
)


def write(folder, *names, table=TABLE, **options):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        pq.write_table(table, folder / name, **options)


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_shards_are_found_in_a_build_and_in_its_folder_of_examples(tmp_path, prefix):
    names = ["train-00001-of-00002.parquet", "train-00000-of-00002.parquet", "test-0.parquet"]
    write(tmp_path / "examples", *names)
    for data in (tmp_path, tmp_path / "examples", f"{tmp_path}/"):
        found = split_shards(f"{prefix}{data}", "train")
        assert [str(s) for s in found] == [f"{tmp_path}/examples/{n}" for n in sorted(names[:2])]
    assert len(row_groups(found)) == 2


def test_a_folder_without_shards_is_told_apart_from_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no train shard \(train-\*.parquet\) in /"):
        split_shards(str(tmp_path), "train")
    with pytest.raises(FileNotFoundError, match="there is no directory nowhere"):
        split_shards("nowhere", "train")
    with pytest.raises(ValueError, match=r"no filesystem for ftp://a/b"):
        split_shards("ftp://a/b", "train")


def test_an_unfinished_shard_is_not_found(tmp_path):
    write(tmp_path, "train-0.parquet", ".train-1.parquet.tmp")
    assert len(split_shards(str(tmp_path), "train")) == 1


def test_row_groups_come_in_order_and_empty_ones_not_at_all(tmp_path):
    write(tmp_path, "train-0.parquet", row_group_size=2)
    write(tmp_path, "train-1.parquet", table=TABLE.slice(0, 0))
    write(tmp_path, "train-2.parquet")
    shards = split_shards(str(tmp_path), "train")
    assert row_groups(shards) == [
        RowGroup(shards[0], 0, 2),
        RowGroup(shards[0], 1, 1),
        RowGroup(shards[2], 0, 3),
    ]


def test_columns_are_read_into_structs_whatever_parquet_calls_its_lists(tmp_path):
    write(tmp_path, "train-0.parquet")
    write(tmp_path, "train-1.parquet", use_compliant_nested_type=False)
    for group in row_groups(split_shards(str(tmp_path), "train")):
        table = read_group(group, ["title_ids", "paragraphs.score"])
        assert table.to_pydict() == {
            "title_ids": [[7, 8], [9], []],
            "paragraphs": [[{"score": 1.0}], [], [{"score": 0.5}]],
        }
        with pytest.raises(ValueError, match=r"train-.\.parquet has no column paragraphs\.rank"):
            read_group(group, ["title_ids", "paragraphs.rank"])


def test_a_shard_goes_to_another_process(tmp_path):
    write(tmp_path, "train-0.parquet")
    shard = pickle.loads(pickle.dumps(split_shards(str(tmp_path), "train")[0]))
    with open_shard(shard) as file:
        assert file.metadata.num_rows == 3


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "train-0.parquet").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"train-0\.parquet is not a Parquet file"):
        row_groups(split_shards(str(tmp_path), "train"))


def test_the_vocabulary_lies_in_the_build(tmp_path):
    write(tmp_path / "examples", "train-0.parquet")
    with pytest.raises(FileNotFoundError, match="run `wikisum tokenize` first"):
        find_vocab(str(tmp_path))
    (tmp_path / "vocab").mkdir()
    (tmp_path / "vocab" / "wikisum.model").write_bytes(b"model")
    for data in (str(tmp_path), f"{tmp_path}/examples/", f"file://{tmp_path}/examples"):
        assert find_vocab(data) == b"model"


def test_a_bucket_is_a_folder_of_its_filesystem():
    filesystem, path = open_folder("gs://bucket/out/")
    assert (filesystem.type_name, path) == ("gcs", "bucket/out")
