import gzip
import io
import re

import pytest
import zstandard

from tests.builders import gzipped
from wikisum.crawl.warc.decoders import PIECE_BYTES
from wikisum.crawl.warc.members import KEPT_BYTES, MAX_BLANK_BYTES, MemberReader

STARTS = re.compile(rb"START")
ONE, TWO, THREE = (b"START" + name * 40 + b"\n" for name in (b"a", b"b", b"c"))


def reader_of(data: bytes) -> MemberReader:
    return MemberReader(io.BytesIO(data), STARTS)


def parts(data: bytes) -> list[tuple[int, bytes]]:
    """(position, content) of each part."""
    reader = reader_of(data)
    found = []
    while reader.next_part():
        position = reader.position
        found.append((position, reader.read(1 << 20)))
    return found


def test_each_member_with_a_record_is_a_part():
    offset = len(gzipped(ONE))
    assert parts(gzipped(ONE, TWO)) == [(0, ONE), (offset, TWO)]


def test_members_without_a_record_belong_to_the_part_before():
    assert parts(gzipped(ONE, b"more", b"", TWO)) == [
        (0, ONE + b"more"),
        (len(gzipped(ONE, b"more", b"")), TWO),
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_all_of_a_file_in_one_piece_is_one_part(pack):
    assert parts(pack(ONE + TWO)) == [(0, ONE + TWO)]


def test_offsets_are_known_between_members_only():
    reader = reader_of(gzipped(ONE, b"more"))
    assert reader.next_part()
    assert (reader.position, reader.file_offset()) == (0, 0)
    reader.read(3)
    assert (reader.position, reader.file_offset()) == (3, None)
    reader.skip(len(ONE) - 3)
    reader.peek(1)
    assert (reader.position, reader.file_offset()) == (len(ONE), len(gzipped(ONE)))


def test_every_offset_of_a_plain_file_is_known():
    reader = reader_of(ONE + TWO)
    assert reader.next_part()
    reader.skip(7)
    assert (reader.position, reader.file_offset(), reader.is_plain) == (7, 7, True)


def test_peek_takes_nothing_and_read_and_skip_count():
    reader = reader_of(gzipped(ONE))
    assert reader.next_part()
    assert (reader.peek(5), reader.read(5), reader.skip(10)) == (b"START", b"START", 10)
    assert reader.skip(1 << 20) == len(ONE) - 15
    assert reader.read(1) == b""


def test_read_until_takes_through_the_first_terminator():
    reader = reader_of(b"one;two,three;" + b"x" * 9000)
    assert reader.next_part()
    assert reader.read_until((b";", b","), 100) == b"one;"
    assert reader.read_until((b";", b","), 100) == b"two,"
    assert reader.read_until((b"!",), 100) is None
    assert reader.peek(5) == b"three"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_seek_start_goes_forwards_and_backwards(pack):
    data = ONE + b"filler\n" * 5000 + TWO + THREE
    reader = reader_of(pack(data))
    assert reader.next_part()
    assert reader.at_start()
    second, third = data.index(TWO), data.index(THREE)
    if pack is not bytes:  # what is found in a plain file is the next part
        assert (reader.seek_start(1), reader.peek(len(TWO))) == (second, TWO)
        reader.read(1 << 20)
        assert reader.seek_start(second) == second
        assert reader.seek_start(second + 1) == third
        assert reader.seek_start(third + 1) == len(data)
    else:
        assert reader.seek_start(1) == second
        assert (reader.next_part(), reader.position, reader.peek(len(TWO))) == (True, second, TWO)


def test_a_start_further_back_than_is_kept_is_lost():
    data = ONE + TWO + b"x" * 5 * KEPT_BYTES
    reader = reader_of(gzip.compress(data))
    assert reader.next_part()
    reader.skip(4 * KEPT_BYTES)
    assert reader.seek_start(1) == len(data)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_of_endless_line_ends_little_is_decompressed(pack):
    flood = pack(b"\r\n" * 4 * MAX_BLANK_BYTES)  # 8 MiB
    reader = reader_of(flood + gzipped(ONE))
    assert reader.next_part()
    reader.skip_blank()
    assert MAX_BLANK_BYTES < reader.position < 3 * MAX_BLANK_BYTES
    assert (reader.fault.reason, reader.fault.offset, reader.peek(1)) == ("bad_record", 0, b"")
    assert reader.recover() == len(flood)
    assert reader.next_part()
    assert reader.read(999) == ONE


@pytest.mark.parametrize(
    ("pack", "blank"),
    [(gzip.compress, MAX_BLANK_BYTES), (gzip.compress, 4), (bytes, 3 * MAX_BLANK_BYTES)],
)
def test_many_line_ends_are_skipped(pack, blank):
    reader = reader_of(pack(b"\r\n" * (blank // 2) + ONE))
    assert reader.next_part()
    reader.skip_blank()
    assert (reader.position, reader.fault, reader.read(999)) == (blank, None, ONE)


def test_bytes_of_a_member_that_fails_later_are_skipped_too():
    blank = b"\r\n" * PIECE_BYTES  # two pieces
    damaged = bytearray(gzip.compress(blank))
    damaged[-5] ^= 1
    for skip in (MemberReader.skip_blank, lambda reader: reader.skip(4 * len(blank))):
        reader = reader_of(gzip.compress(blank) + damaged)
        assert reader.next_part()
        skip(reader)
        assert (reader.fault.reason, reader.peek(1)) == ("bad_record", b"")


def test_damage_ends_a_part_and_the_next_member_is_found():
    long = TWO * 9
    data = bytearray(gzipped(ONE, long, THREE))
    first, second = len(gzipped(ONE)), len(gzipped(ONE, long))
    data[second - 5] ^= 1
    reader = reader_of(bytes(data))
    assert reader.next_part()
    assert reader.read(999) == ONE
    assert reader.next_part()
    assert long.startswith(reader.read(999))
    assert (reader.fault.reason, reader.fault.offset) == ("bad_record", first)
    assert reader.recover() == second
    assert reader.next_part()
    assert reader.read(999) == THREE
    assert not reader.next_part()


def test_go_to_finds_the_next_member_with_a_record():
    data = gzipped(ONE, b"more", TWO, THREE)
    first, second = len(gzipped(ONE, b"more")), len(gzipped(ONE, b"more", TWO))
    for offset, expected in ((0, 0), (1, first), (first, first), (first + 1, second)):
        reader = reader_of(data)
        assert reader.next_part()
        assert reader.go_to(offset) == expected
        assert reader.next_part()
        assert reader.position == expected
    assert reader.go_to(second + 1) == len(data)
    assert not reader.next_part()
