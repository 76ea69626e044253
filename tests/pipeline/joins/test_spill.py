import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.joins.spill import open_spill, read_range

COUNTS = {"a": 3, "b": 5}
records = st.lists(
    st.sampled_from([(name, index) for name, count in COUNTS.items() for index in range(count)])
)


def written(path, added, held_bytes):
    with open_spill(str(path), COUNTS, held_bytes) as spill:
        for number, (name, index) in enumerate(added):
            spill.add(name, index, f"record {number}")
    return {
        (name, index): [unpack(data, str) for data in read_range([str(path)], name, index)]
        for name, count in COUNTS.items()
        for index in range(count)
    }


@given(records, st.sampled_from([1, 500, 1 << 20]))
def test_each_range_has_its_records_in_their_order(tmp_path_factory, added, held_bytes):
    expected = {(name, index): [] for name, count in COUNTS.items() for index in range(count)}
    for number, place in enumerate(added):
        expected[place].append(f"record {number}")
    assert written(tmp_path_factory.mktemp("spill") / "0", added, held_bytes) == expected


def test_several_files_are_read_in_their_order(tmp_path):
    paths = [str(tmp_path / name) for name in "012"]
    for number, path in enumerate(paths):
        with open_spill(path, COUNTS, 1 << 20) as spill:
            if number != 1:
                spill.add("a", 2, [number, "x" * 5000])
    assert list(read_range(paths, "a", 2)) == [pack([number, "x" * 5000]) for number in (0, 2)]
    assert list(read_range(paths, "b", 0)) == []


def test_no_file_is_left_by_a_failed_writer(tmp_path):
    with pytest.raises(KeyError), open_spill(str(tmp_path / "0"), COUNTS, 1) as spill:
        spill.add("unknown", 0, "record")
    assert list(tmp_path.iterdir()) == []


def test_a_cut_file_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "0"
    written(path, [("a", 1)] * 100, 1 << 20)
    path.write_bytes(path.read_bytes()[100:])
    with pytest.raises(EOFError, match=f"{path} ends before byte"):
        list(read_range([str(path)], "a", 1))
