import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.pages.plan import (
    EVEN_PARTS,
    MAX_BYTES,
    MIN_BYTES,
    STORE_MIN_BYTES,
    FileShare,
    plan_scan,
    share_bytes,
)


def files_of(*sizes: int) -> list[InputFile]:
    return [InputFile(f"{n}.warc.gz", f"/{n}.warc.gz", size, 0.0) for n, size in enumerate(sizes)]


def test_a_large_file_is_shared_and_a_small_one_is_not():
    small, large, unknown = files_of(99, 250, 0)
    assert plan_scan([small, large, unknown], 100) == [
        [FileShare(small)],
        [FileShare(large, 0, 83)],
        [FileShare(large, 83, 166)],
        [FileShare(large, 166)],
        [FileShare(unknown)],
    ]
    assert [share.size_bytes for (share,) in plan_scan([large], 100)] == [83, 83, 84]


def test_neighbors_are_one_part_where_there_are_too_many():
    a, b = files_of(300, 300)
    assert plan_scan([a, b], 100, 4) == [
        [FileShare(a, 0, 100)],
        [FileShare(a, 100)],
        [FileShare(b, 0, 100)],
        [FileShare(b, 100)],
    ]
    assert plan_scan([a, b], 100, 5)[1:3] == [[FileShare(a, 100, 200)], [FileShare(a, 200)]]
    assert plan_scan([a, b], 100, 1) == [[FileShare(a), FileShare(b)]]
    assert plan_scan([], 100) == []


@pytest.mark.slow
@given(st.lists(st.integers(0, 500), max_size=30), st.integers(1, 200), st.integers(1, 40))
def test_every_byte_falls_to_one_part(sizes, max_bytes, max_parts):
    warcs = files_of(*sizes)
    parts = plan_scan(warcs, max_bytes, max_parts)
    assert len(parts) <= max_parts
    assert all(parts)
    shares = [share for part in parts for share in part]
    for file in warcs:
        own = [share for share in shares if share.file == file]
        assert [share.first for share in own] == [0, *(share.before for share in own[:-1])]
        assert own[-1].before is None
        assert sum(share.size_bytes for share in own) == file.size_bytes
    assert [share.file for share in shares] == sorted(
        (share.file for share in shares), key=warcs.index
    )


def test_shares_are_even_where_little_is_read_and_large_where_much_is():
    assert share_bytes(files_of(1000)) == MIN_BYTES
    assert share_bytes(files_of(EVEN_PARTS * MIN_BYTES * 2)) == MIN_BYTES * 2
    assert share_bytes(files_of(*[1 << 30] * 1000)) == MAX_BYTES
    stored = files_of(1000)[0]._replace(path="gs://crawl/0.warc.gz")
    assert share_bytes([stored]) == STORE_MIN_BYTES
