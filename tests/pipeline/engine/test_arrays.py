import hashlib
from typing import NamedTuple

import numpy as np

from wikisum.pipeline.engine.arrays import read_arrays, write_arrays


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
