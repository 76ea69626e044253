import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfrecords import crc32c, masked, tfrecord
from wikisum.crawl.errors import BadRecord
from wikisum.crawl.original import tfrecord as module
from wikisum.crawl.original.tfrecord import Record, is_tfrecord, masked_crc, read_tfrecords

# the record "abc" as TensorBoard's RecordWriter writes it
GOLDEN = bytes.fromhex("0300000000000000b099490e6162636e57f121")


def read(data: bytes) -> list:
    return list(read_tfrecords(io.BytesIO(data)))


def records_in(data: bytes) -> list:
    return [(b.reason, b.offset) if isinstance(b, BadRecord) else b for b in read(data)]


def test_known_checksums():
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    assert crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720, B.4
    assert masked(b"123456789") == masked_crc(b"123456789").to_bytes(4, "little")


def test_a_record_that_another_program_wrote():
    assert read(GOLDEN) == [Record(0, b"abc")]
    assert tfrecord(b"abc") == GOLDEN
    assert is_tfrecord(GOLDEN[:12])


@pytest.mark.slow
@given(st.lists(st.binary(max_size=300), max_size=5))
def test_records_come_out_as_they_went_in(records):
    found = read(b"".join(map(tfrecord, records)))
    assert [record.data for record in found] == records
    assert [record.offset for record in found] == [
        sum(len(r) + 16 for r in records[:i]) for i in range(len(records))
    ]


@pytest.mark.slow
@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=3), st.data())
def test_a_cut_file_gives_what_came_before(records, data):
    whole = b"".join(map(tfrecord, records))
    cut = data.draw(st.integers(0, len(whole) - 1))
    ends = [sum(len(r) + 16 for r in records[: i + 1]) for i in range(len(records))]
    complete = [r for r, end in zip(records, ends, strict=True) if end <= cut]
    good = [record.data for record in read(whole[:cut]) if isinstance(record, Record)]
    assert good == complete
    start = ([0, *ends])[len(complete)]
    assert records_in(whole[:cut])[len(complete) :] == [("truncated_file", start)] * (cut != start)


def test_damaged_data_cost_their_record_and_a_damaged_length_the_rest():
    one, two, three = (tfrecord(word) for word in (b"one", b"two", b"three"))
    bad_data = two[:-5] + b"?" + two[-4:]
    assert records_in(one + bad_data + three) == [
        Record(0, b"one"), ("bad_checksum", 19), Record(38, b"three")
    ]  # fmt: skip
    assert records_in(one + b"\x07" + two[1:] + three) == [Record(0, b"one"), ("bad_checksum", 19)]
    assert str(read(one + bad_data)[1]) == "the data of the TFRecord at byte 19 is damaged"


def test_a_record_too_large_is_passed_over(monkeypatch):
    monkeypatch.setattr(module, "MAX_RECORD_BYTES", 10)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 7)
    long, short = tfrecord(bytes(30)), tfrecord(b"short")
    assert records_in(long + short) == [("record_too_large", 0), Record(46, b"short")]
    assert records_in(long[:-1]) == [("record_too_large", 0), ("truncated_file", 0)]


@pytest.mark.parametrize("data", [b"", b"BZh91AY&SY..", b"<mediawiki xml", bytes(12), GOLDEN[:11]])
def test_what_is_no_tfrecord(data):
    assert not is_tfrecord(data)


def test_an_empty_record_begins_a_file_too():
    assert is_tfrecord(tfrecord(b""))
