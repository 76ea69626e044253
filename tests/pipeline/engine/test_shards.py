import hashlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.pipeline import records
from wikisum.pipeline.engine.shards import (
    LOCAL_READERS,
    READERS,
    open_shard,
    read_arrays,
    read_each,
    write_arrays,
)


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


class Table(NamedTuple):
    keys: np.ndarray
    scores: np.ndarray
    none: np.ndarray


TABLE = Table(np.array([5, 2**63], np.uint64), np.array([0.5, -1.0, 3.0]), np.array([], np.int32))


def test_arrays_come_back_with_their_types(tmp_path):
    write_arrays(str(tmp_path), "a/table.arrays", TABLE)
    found = read_arrays(str(tmp_path / "a/table.arrays"), "key")
    assert len(found) == len(TABLE)
    for array, expected in zip(found, TABLE, strict=True):
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected)


def test_the_entry_describes_the_file(tmp_path):
    entry = write_arrays(str(tmp_path), "table.arrays", TABLE)
    data = (tmp_path / "table.arrays").read_bytes()
    assert (entry.path, entry.rows, entry.size_bytes) == ("table.arrays", 2, len(data))
    assert entry.sha256 == hashlib.sha256(data).hexdigest()


def test_arrays_are_mapped_and_cannot_be_changed(tmp_path):
    write_arrays(str(tmp_path), "table.arrays", TABLE)
    keys, *_ = read_arrays(str(tmp_path / "table.arrays"), "key")
    assert not keys.flags.writeable
    assert not keys.flags.owndata


@pytest.mark.parametrize(("folder", "readers"), [("s3://b/", READERS), ("/", LOCAL_READERS)])
def test_files_are_read_in_order_and_few_ahead_of_their_use(folder, readers):
    started: list[str] = []

    def read(path: str) -> str:
        started.append(path)
        return path.upper()

    paths = [f"{folder}{number}" for number in range(100)]
    results = read_each(read, paths)
    assert next(results) == paths[0].upper()
    assert len(started) <= readers + 1
    assert [*results] == [path.upper() for path in paths[1:]]


def test_an_error_of_a_file_is_raised_when_its_turn_comes():
    results = read_each(lambda path: 1 // int(path), ["1", "0"])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
