import io

import pytest

from tests.builders import warc_record
from tests.crawl_packs import arc_record
from wikisum.crawl.errors import BadRecord
from wikisum.crawl.warc.headers import MAX_HEADER_BYTES, STARTS, RecordHeader, read_header
from wikisum.crawl.warc.members import MemberReader


def header_of(data: bytes) -> RecordHeader:
    reader = MemberReader(io.BytesIO(data), STARTS)
    reader.next_part()
    return read_header(reader, reader.at_start())


def reason_of(data: bytes) -> str:
    with pytest.raises(BadRecord) as caught:
        header_of(data)
    return caught.value.reason


def test_a_warc_header():
    header = header_of(warc_record("<http://x.example/a b>", b"12345", kind="conversion"))
    assert header[:3] == ("conversion", "http://x.example/a%20b", 5)
    assert header.headers["warc-date"] == "2024-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://x.example/", "http://x.example/"),
        ("http://x.example/a b  c", "http://x.example/a%20b%20%20c"),
        ("http://x.example/ 10.0.0.1 x", "http://x.example/%2010.0.0.1%20x"),
    ],
)
def test_the_url_of_an_arc_record_may_hold_spaces(url, expected):
    header = header_of(arc_record(url, b"12345"))
    assert header[:2] == ("arc", expected)
    assert header.headers == {"warc-date": "2014-02-16T05:02:21Z", "content-type": "text/html"}


@pytest.mark.parametrize("start", ["filedesc://x.arc", "dns:x.example"])
def test_arc_records_that_are_not_pages(start):
    assert (
        header_of(f"{start} 0.0.0.0 20140216050221 text/plain 5\n12345".encode())[0] == "warcinfo"
    )


def test_the_types_of_an_arc_record_may_hold_spaces():
    line = b"http://x.example/ 1.2.3.4 20140216050221 text/html; charset=x 5\n12345"
    assert header_of(line).length == 5


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"nothing of the kind\n" * 999, "bad_record"),
        (b"WARC/1.0\r\n", "truncated_record"),
        (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Len", "truncated_record"),
        (b"WARC/1.0\r\nA: " + b"x" * 2 * MAX_HEADER_BYTES, "bad_record"),
        (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\n", "bad_record"),
        (b"WARC/1.0\r\nWARC-Type: request\r\nContent-Length: x\r\n\r\n", "bad_record"),
        (b"WARC/1.0\r\nWARC-Type: request\r\n\r\n", "bad_record"),
    ],
)
def test_what_is_not_a_header(data, reason):
    assert reason_of(data) == reason
