import bisect
import itertools
from collections import Counter
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.crawl.errors import BadLine
from wikisum.crawl.index import cluster
from wikisum.crawl.index.cluster import first_line, needed_blocks, search, slice_of


class Key(NamedTuple):
    surt: str


class Counted:
    """A file in memory that counts what is read of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = self.reads = 0

    def __call__(self, offset: int, length: int) -> bytes:
        assert offset < len(self.data), "a server refuses a range beyond the end"
        self.reads += 1
        data = self.data[offset : offset + length]
        self.bytes += len(data)
        return data


def cluster_idx(firsts: list[str]) -> bytes:
    rows = (f"{s} 2024\tcdx-00000.gz\t{i * 10}\t10\t{i}\tmore\n" for i, s in enumerate(firsts))
    return "".join(rows).encode()


def blocks_of(firsts: list[str], wanted: list[str], count: int = 1, **limits: int) -> list[tuple]:
    """(number of the block, keys) that any of `count` parts says are needed."""
    read = Counted(cluster_idx(firsts))
    size = len(read.data)
    found = []
    for index in range(count):
        part = slice_of(read, size, index, count)
        keys = [Key(w) for w in wanted if w >= part.low and (part.high is None or w <= part.high)]
        steps = needed_blocks(read, part.start, part.end, size, keys, len(keys))
        for block, keys in steps:
            found.append((block.offset // 10, [k.surt for k in keys]))
    return found


def test_a_key_is_in_the_block_that_begins_before_it():
    assert blocks_of(["b", "d", "f"], ["c", "e", "g"]) == [(0, ["c"]), (1, ["e"]), (2, ["g"])]


def test_a_key_that_begins_a_block_may_begin_in_the_one_before():
    assert blocks_of(["b", "d", "f"], ["d"]) == [(0, ["d"]), (1, ["d"])]
    assert blocks_of(["b", "d", "f"], ["b"]) == [(0, ["b"])]


def test_captures_may_run_on_over_blocks():
    assert blocks_of(["b", "d", "d", "d", "f"], ["d"]) == [(i, ["d"]) for i in range(4)]


def test_keys_before_all_blocks_are_in_none():
    assert blocks_of(["b", "d"], ["a"]) == []


def test_many_keys_read_a_block_once():
    assert blocks_of(["b", "d"], ["ba", "bb", "bb", "bc"]) == [(0, ["ba", "bb", "bb", "bc"])]


WORDS = st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=60)


def naive(firsts: list[str], key: str) -> set[int]:
    """From the last block that begins before the key to the last that begins with it."""
    first = max(bisect.bisect_left(firsts, key) - 1, 0)
    return {i for i in range(first, len(firsts)) if firsts[i] <= key}


@pytest.mark.slow
@settings(deadline=None)
@given(WORDS, WORDS, st.integers(1, 5), st.booleans())
def test_agrees_with_a_plain_search(firsts, wanted, count, is_sparse):
    firsts, wanted = sorted(firsts), sorted(set(wanted))
    limits = {"MIN_BYTES_PER_SEARCH": 0 if is_sparse else 1 << 20, "SEARCH_BYTES": 40,
              "PROBE_BYTES": 16}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(cluster, name, value)
        found = blocks_of(firsts, wanted, count)
    assert max(Counter(number for number, _ in found).values(), default=1) == 1
    assert {(n, key) for n, keys in found for key in keys} == {
        (n, key) for key in wanted for n in naive(firsts, key)
    }


@pytest.mark.slow
@given(WORDS, st.integers(1, 9))
def test_parts_share_the_lines_out(firsts, count):
    read = Counted(cluster_idx(firsts))
    size = len(read.data)
    slices = [slice_of(read, size, i, count) for i in range(count)]
    assert slices[0].start == 0
    assert slices[-1].end == size
    assert all((a.end, a.high or "") == (b.start, b.low) for a, b in itertools.pairwise(slices))
    starts = {0, size} | {i + 1 for i in range(size) if read.data[i : i + 1] == b"\n"}
    assert {place for s in slices for place in (s.start, s.end)} <= starts


def test_a_search_in_200_mb_reads_little():
    width = 200

    def line(number: int) -> bytes:
        row = f"com,host{number:07d})/ 2024\tcdx-00000.gz\t{number}\t1\t"
        return row.encode().ljust(width - 1, b"x") + b"\n"

    read_bytes = 0

    def read(offset: int, length: int) -> bytes:
        nonlocal read_bytes
        read_bytes += length
        first, last = offset // width, (offset + length) // width + 1
        data = b"".join(line(i) for i in range(first, last))
        return data[offset - first * width :][:length]

    size = 1_000_000 * width
    wanted = [Key("com,host0777777)/a")]
    (needed,) = needed_blocks(read, 0, size, size, wanted, 1)
    assert needed.block.offset == 777_777
    assert read_bytes < 500_000


@pytest.mark.slow
def test_reading_on_goes_in_large_steps():
    firsts = [f"com,host{i:06d})/" for i in range(50_000)]
    read = Counted(cluster_idx(firsts))
    size = len(read.data)
    keys = [Key(f"{first}a") for first in firsts]
    found = list(needed_blocks(read, 0, size, size, keys, len(keys)))
    assert len(found) == 50_000
    assert read.reads <= 3
    assert read.bytes == size


def test_a_last_line_without_an_end_counts():
    data = cluster_idx(["b", "d"]).rstrip(b"\n")
    read = Counted(data)
    found = list(needed_blocks(read, 0, len(data), len(data), [Key("e")], 1))
    assert [n.block.offset for n in found] == [10]
    assert first_line(read, len(data), 5)[1].startswith(b"d ")
    assert first_line(read, len(data), len(data) - 1) == (len(data), b"")
    assert search(read, 0, len(data), len(data), "z") == 0


@pytest.mark.parametrize(
    "data", [b"a page of HTML", b"a\tb\tc\td\n", b"a 1\tf\t-1\t5\n", b"\x00" * 70_000]
)
def test_a_cluster_idx_that_is_none(data):
    read = Counted(data)
    with pytest.raises(BadLine, match=r"cluster\.idx|place|over"):
        list(needed_blocks(read, 0, len(data), len(data), [Key("b")], 1))
