import pickle

import pytest

from tests.ranker.training.points import PointReader
from wikisum.ranker.training import reader as module


def test_examples_are_numbered_over_all_row_groups():
    reader = PointReader(3, 1, 2)
    assert len(reader) == 6
    assert [reader.find(number)[0][reader.find(number)[1]] for number in range(6)] == [
        1, 2, 3, 4, 5, 6,
    ]  # fmt: skip
    assert reader.reads == [0, 1, 2]
    assert reader.lengths().group_rows.tolist() == [3, 1, 2]
    assert len(reader.lengths().source) == 6


@pytest.mark.parametrize(("pool_rows", "reads"), [(1, [0, 1, 2, 1]), (2, [0, 1, 2])])
def test_the_row_groups_used_last_are_kept(monkeypatch, pool_rows, reads):
    """One lane keeps `pool_rows` rows and a row group more: here three rows, or four."""
    monkeypatch.setattr(module, "LANES", 1)
    monkeypatch.setattr(module, "POOL_ROWS", pool_rows)
    reader = PointReader(1, 1, 2)
    for number in (0, 1, 0, 2, 0, 1):
        reader.find(number)
    assert reader.reads == reads


def test_other_processes_receive_no_rows():
    reader = PointReader(3, 1)
    reader.find(0)
    again = pickle.loads(pickle.dumps(reader))
    again.find(0)
    assert again.reads == [0, 0]
    assert len(again) == 4


def test_a_row_group_may_have_fewer_examples_than_rows():
    reader = PointReader(3, 2)
    reader.set_rows([2, 2])
    assert len(reader) == 4
    assert reader.find(2)[1] == 0
    assert reader.reads == [1]
