import gzip
import io
import random
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import gzipped, warc_record
from tests.crawl_packs import PACKS, arc_record
from wikisum.crawl.warc.split_points import CERTAIN_BYTES, next_split, records_between
from wikisum.crawl.warc.warc import read_captures

SHARE = st.floats(0, 1, exclude_min=True, exclude_max=True)


def page(number: int, size: int = 300) -> bytes:
    rng = random.Random(number)
    return warc_record(f"http://{number}.example/", rng.randbytes(size // 2).hex().encode())


def whole(data: bytes) -> list:
    return list(read_captures(io.BytesIO(data)))


def in_parts(data: bytes, shares: list[float], certain_bytes: int = CERTAIN_BYTES) -> list[list]:
    """What each worker reads of a file whose borders lie at these shares of its size."""
    cuts = sorted({0, *(int(share * len(data)) for share in shares)})
    parts = []
    for first, before in pairwise([*cuts, None]):
        raw = io.BytesIO(data)
        found = records_between(raw, first, before, certain_bytes)
        parts.append(list(read_captures(raw, start=found[0], end=found[1])) if found else [])
    return parts


def joined(parts: list[list]) -> list:
    return [item for part in parts for item in part]


RECORDS = st.lists(st.integers(2, 4000), min_size=1, max_size=12)
SHARES = st.lists(SHARE, max_size=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKS)
@settings(max_examples=60, deadline=None)
@given(RECORDS, SHARES, st.sampled_from([0, 1000, 5000]))
def test_every_record_is_read_just_once(name, sizes, shares, certain_bytes):
    data = PACKS[name](*(page(number, size) for number, size in enumerate(sizes)))
    assert joined(in_parts(data, shares, certain_bytes)) == whole(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKS)
@settings(max_examples=150, deadline=None)
@given(RECORDS, SHARES, st.sampled_from([0, 1000, 5000]), st.randoms(use_true_random=False))
def test_what_is_wrong_with_a_file_is_reported_once(name, sizes, shares, certain_bytes, rng):
    data = bytearray(PACKS[name](*(page(number, size) for number, size in enumerate(sizes))))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + rng.randrange(300)]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(300))
        else:
            data[at:at] = bytes(rng.randrange(300))
        data = data or bytearray(b"x")
    assert joined(in_parts(bytes(data), shares, certain_bytes)) == whole(bytes(data))


def stored(*records: bytes) -> bytes:
    """Members that are not compressed, so that what lies in a record lies so in the file."""
    return b"".join(gzip.compress(record, 0, mtime=0) for record in records)


def raw_frame(record: bytes) -> bytes:
    """The same as a frame of zstd: a window of 128 KiB, and raw blocks of that size."""
    size = 1 << 17
    frame = b"\x28\xb5\x2f\xfd\x00\x38"
    for place in range(0, len(record), size):
        block = record[place : place + size]
        is_last = place + size >= len(record)
        frame += (len(block) << 3 | is_last).to_bytes(3, "little") + block
    return frame


def raw_frames(*records: bytes) -> bytes:
    return b"".join(map(raw_frame, records))


@pytest.mark.slow
@pytest.mark.parametrize("pack", [stored, raw_frames])
@pytest.mark.parametrize("inner", [gzipped, stored, raw_frames])
def test_a_crawl_file_in_a_record_is_none_of_the_file(pack, inner):
    nested = inner(*(page(number, 200) for number in range(100, 140)))
    outer = warc_record("http://outer.example/", nested, http_Content_Type="application/gzip")
    pages = [page(number, 3000) for number in range(9)]
    data = pack(*pages[:3], outer, *pages[3:])
    assert nested[:2000] in data
    for share in (number / 100 for number in range(1, 100)):
        parts = in_parts(data, [share], certain_bytes=len(nested))
        assert joined(parts) == whole(data)


@pytest.mark.slow
@pytest.mark.parametrize("pack", [stored, raw_frames])
@pytest.mark.parametrize("inner", [gzipped, raw_frames])
def test_a_large_crawl_file_in_a_record_is_none_of_the_file(pack, inner):
    nested = inner(*(page(number, 20_000) for number in range(80)))
    assert len(nested) > 3 * CERTAIN_BYTES
    outer = warc_record("http://outer.example/", nested, http_Content_Type="application/gzip")
    pages = [page(number, 100_000) for number in range(8)]
    data = pack(*pages[:2], outer, *pages[2:])
    for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        parts = in_parts(data, [share])
        assert joined(parts) == whole(data)
        assert all(parts)


def test_nested_records_would_pass_for_the_files_own_if_few_were_enough():
    nested = gzipped(*(page(number, 200) for number in range(100, 140)))
    outer = warc_record("http://outer.example/", nested, http_Content_Type="application/gzip")
    data = stored(page(0, 3000), outer, *(page(number, 3000) for number in range(1, 9)))
    assert next_split(io.BytesIO(data), data.index(nested), None, 500) == data.index(nested)
    start = next_split(io.BytesIO(data), data.index(nested), None, len(nested))
    assert start == len(stored(page(0, 3000), outer))


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_the_parts_are_as_large_as_their_shares(name):
    data = PACKS[name](*(page(number, 4000) for number in range(40)))
    parts = in_parts(data, [0.25, 0.5, 0.75], certain_bytes=3000)
    assert all(9 <= len(part) <= 11 for part in parts)


@pytest.mark.parametrize("name", sorted(set(PACKS) - {"gzip", "zstd"}))
def test_a_file_that_is_not_compressed_by_record_is_all_of_the_first_share(name):
    data = PACKS[name](*(page(number, 4000) for number in range(40)))
    parts = in_parts(data, [0.25, 0.5, 0.75], certain_bytes=3000)
    assert [len(part) for part in parts] == [40, 0, 0, 0]


def test_a_border_needs_sound_records_after_it():
    data = bytearray(gzipped(*(page(number, 4000) for number in range(10))))
    starts = [item.offset for item in whole(bytes(data))]
    data[starts[5] + 200] ^= 0xFF
    three = starts[3] - 100  # more than two records have

    def border(number: int, before: int | None = None) -> int | None:
        return next_split(io.BytesIO(data), starts[number], before, three)

    assert [border(n) for n in (0, 1, 2, 6, 7)] == [starts[n] for n in (0, 1, 2, 6, 7)]
    assert [border(n) for n in (3, 4, 5)] == [starts[6]] * 3  # the sixth is broken
    assert [border(n) for n in (8, 9)] == [None, None]  # the file ends
    assert border(3, starts[6]) is None


def test_arc_records_have_borders():
    data = gzipped(*(arc_record(f"http://{n}.example/", bytes(50)) for n in range(20)))
    parts = in_parts(data, [0.5], certain_bytes=300)
    assert all(9 <= len(part) <= 11 for part in parts)
    assert joined(parts) == whole(data)


def test_frames_are_read_with_the_dictionary_that_the_file_begins_with():
    pages = [page(number, 2000) for number in range(200)]
    dictionary = zstandard.train_dictionary(2000, pages)
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    held = dictionary.as_bytes()
    data = b"\x5d\x2a\x4d\x18" + len(held).to_bytes(4, "little") + held
    data += b"".join(packer.compress(record) for record in pages)
    parts = in_parts(data, [0.25, 0.5, 0.75], certain_bytes=3000)
    assert joined(parts) == whole(data)
    assert all(len(part) > 40 for part in parts)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["pages-dev.warc.gz", "wikigen-dev.warc.wet.gz"])
def test_real_files_in_parts(real_data, file):
    data = (real_data / file).read_bytes()
    rng = random.Random(7)
    parts = in_parts(data, [rng.random() for _ in range(6)])
    assert joined(parts) == whole(data)
    assert all(parts[:-1])


@pytest.mark.slow
def test_files_that_others_broke_in_parts(real_data):
    rng = random.Random(8)
    for path in sorted((real_data / "broken-warcs").iterdir()):
        data = path.read_bytes()
        for _ in range(20):
            shares = [rng.random() for _ in range(3)]
            assert joined(in_parts(data, shares, certain_bytes=0)) == whole(data), path.name
