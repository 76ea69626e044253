import gzip
import json

import pytest

from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.crawl.index.cdx import (
    Block,
    Entry,
    block_lines,
    drop_reason,
    entries_with,
    parse_block,
    parse_date,
    parse_entry,
    parse_server_line,
    preference,
    redirect_target,
)

# As CommonCrawl writes it, but for the names.
LINE = (
    b'org,example)/page?a=1 20240224101530 {"url": "https://www.example.org/Page?a=1", '
    b'"mime": "text/html", "mime-detected": "application/xhtml+xml", "status": "200", '
    b'"digest": "ATAEMDG4OL642PIH4HSQP23PASIRPQCH", "length": "17351", "offset": "1023", '
    b'"filename": "crawl-data/CC-MAIN-2024-10/segments/1/warc/x.warc.gz", "charset": "UTF-8", '
    b'"languages": "eng", "new-field": [1, 2]}'
)
OLD_LINE = (  # of 2017: no detected type, no languages
    b'org,example)/ 20170921000000 {"url": "http://example.org/", "mime": "text/html", '
    b'"status": "301", "digest": "X", "length": "5", "offset": "0", "filename": "f"}'
)


def entry(**changes: object) -> Entry:
    plain = parse_entry(LINE)
    return plain._replace(**changes)


def test_a_line_of_the_index():
    assert parse_entry(LINE) == Entry(
        "org,example)/page?a=1",
        "20240224101530",
        "https://www.example.org/Page?a=1",
        200,
        "text/html",
        "application/xhtml+xml",
        "ATAEMDG4OL642PIH4HSQP23PASIRPQCH",
        1023,
        17351,
        "crawl-data/CC-MAIN-2024-10/segments/1/warc/x.warc.gz",
    )
    assert parse_entry(OLD_LINE).status == 301


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"org,example)/",
        b"org,example)/ 2024",
        b"org,example)/ 2024 {",
        b"org,example)/ 2024 []",
        b'org,example)/ 2024 {"url": "u"}',
        b'org,example)/ 2024 {"url": "u", "offset": "x", "length": "1", "filename": "f"}',
        b"org,example)/ 2024 " + b"[" * 100_000,
        b"\xff\xfe 2024 {}",
        b"\xff\xfe" + LINE,
    ],
)
def test_a_malformed_line(line):
    with pytest.raises(BadLine, match="not a line of an index"):
        parse_entry(line)


FIELDS = json.loads(LINE.split(b" ", 2)[2])
BAD_VALUES = [
    ("url", None), ("url", 5), ("url", "http://x/\ud800"), ("mime", 5), ("mime", ["text/html"]),
    ("mime-detected", {"a": 1}), ("digest", 7), ("redirect", [""]), ("truncated", 1),
    ("offset", -1), ("offset", "-1"), ("offset", 10**30), ("offset", "9" * 10_000), ("offset", "²"),
    ("offset", 1.5), ("offset", True), ("offset", None), ("length", 0), ("length", 10**30),
    ("filename", ""), ("filename", None), ("filename", "/etc/passwd"),
    ("filename", "../../../../etc/passwd"), ("filename", "a/../../x"), ("filename", "a\\..\\x"),
    ("filename", "file:///etc/passwd"), ("filename", "a\0b"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_a_field_of_the_wrong_kind_makes_a_bad_line(name, value):
    line = b"org,example)/ 2024 " + json.dumps(FIELDS | {name: value}).encode()
    with pytest.raises(BadLine) as caught:
        parse_entry(line)
    assert caught.value.reason == "bad_index"
    server = FIELDS | {"urlkey": "org,example)/", "timestamp": "2024", name: value}
    with pytest.raises(BadLine):
        parse_server_line(json.dumps(server).encode())


def test_a_field_that_is_null_counts_as_missing():
    nulls = dict.fromkeys(("mime", "mime-detected", "digest", "status", "redirect"))
    parsed = parse_entry(b"org,example)/ 2024 " + json.dumps(FIELDS | nulls).encode())
    assert (parsed.mime, parsed.mime_detected, parsed.digest, parsed.status) == ("", "", "", 0)


@pytest.mark.parametrize("status", ["²", "-", "9" * 5000, "2000", 20, None, [200]])
def test_an_odd_status_counts_as_unknown(status):
    line = b"org,example)/ 2024 " + json.dumps(FIELDS | {"status": status}).encode()
    assert parse_entry(line).status == 0


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[]", b"5", b"{}", b"[" * 100_000, b'{"urlkey": 5, "timestamp": "2024"}',
        json.dumps(FIELDS | {"urlkey": "a)/", "timestamp": None}).encode(),
    ],
)  # fmt: skip
def test_a_malformed_line_of_a_server(line):
    with pytest.raises(BadLine):
        parse_server_line(line)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"a)/ 2024\tf\t1", b"a)/ 2024\tf\tx\t5", b"a)/ 2024\tf\t-1\t5",
        b"a)/ 2024\tf\t1\t0", b"a)/ 2024\t../f\t1\t5", b"a)/ 2024\t/f\t1\t5",
        b"a)/ 2024\tf\t1\t" + b"9" * 10_000, "a)/ 2024\tf\t1\t²".encode(),
    ],
)  # fmt: skip
def test_a_malformed_line_of_cluster_idx(line):
    with pytest.raises(BadLine, match=r"not a line of a cluster\.idx"):
        parse_block(line)


def test_a_line_of_cluster_idx_with_columns_to_come():
    line = b"org,example)/ 20240224101530\tcdx-00299.gz\t123456789012\t200123\t7\tnew\tcolumns"
    assert parse_block(line) == Block("org,example)/", "cdx-00299.gz", 123456789012, 200123)


def test_a_block_in_a_file_whose_name_is_not_text_makes_a_bad_line():
    with pytest.raises(BadLine, match="not a line of a cluster"):
        parse_block(b"org,example)/ 2024\tcdx-\xff.gz\t0\t9\t1")


def block(*keys: str) -> bytes:
    return b"".join(LINE.replace(b"org,example)/page?a=1", key.encode()) + b"\n" for key in keys)


def found(lines: bytes, *keys: str) -> list[str]:
    return [key for key, _ in entries_with(lines, keys)]


def test_wanted_keys_are_found_in_a_block_and_no_others():
    lines = block("a)/", "a)/b", "a)/b", "a)/bc", "b)/")
    assert found(lines, "a)/", "a)/b", "b)/") == ["a)/", "a)/b", "a)/b", "b)/"]
    assert found(lines, ")/", "a)", "a)/a", "c)/") == []
    assert found(lines.rstrip(b"\n"), "b)/") == ["b)/"]


def test_a_bad_line_loses_only_itself():
    lines = b"a)/ 2024 {broken\n" + block("a)/", "b)/")
    kinds = [(key, type(item)) for key, item in entries_with(lines, ["a)/", "b)/"])]
    assert kinds == [("a)/", BadLine), ("a)/", Entry), ("b)/", Entry)]


def test_blocks_come_out_of_their_gzip_member():
    data = gzip.compress(block("a)/"))
    assert block_lines(data) == block("a)/")
    for damaged in (data[:-9], b"x" + data, data[:30] + b"\xff\xff" + data[32:]):
        with pytest.raises(BadRecord, match="block of the index"):
            block_lines(damaged)


def test_a_block_that_swells_is_cut_off(monkeypatch):
    monkeypatch.setattr("wikisum.crawl.index.cdx.MAX_BLOCK_BYTES", 1000)
    with pytest.raises(BadRecord, match="too large"):
        block_lines(gzip.compress(bytes(1_000_000)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"mime": "unk"}, None),
        ({"mime": ""}, None),
        ({"mime": "Text/HTML; charset=x"}, None),
        ({"mime": "text/plain"}, None),
        ({"mime": "application/pdf"}, "not_html"),
        ({"mime": "warc/revisit", "status": 0}, "revisit"),
        ({"status": 404}, "http_status_404"),
        ({"status": 0}, "not_a_response"),
        ({"truncated": "length"}, "truncated_record"),
    ],
)
def test_why_a_capture_is_no_page(changes, reason):
    assert drop_reason(entry(**changes)) == reason


def best(*entries: Entry, date: str | None = None) -> Entry:
    day = parse_date(date) if date else None
    return min(entries, key=lambda e: preference(e, day))


def test_the_newest_html_is_best():
    old, new = entry(timestamp="20230101000000"), entry(timestamp="20240101000000")
    text = entry(timestamp="20250101000000", mime="text/plain", mime_detected="text/plain")
    assert best(old, new, text) == new
    assert best(old, text) == old
    assert best(entry(timestamp="?"), old) == old


def test_or_the_one_nearest_to_a_date():
    stamps = ["20170901000000", "20171001000000", "20240101000000"]
    captures = [entry(timestamp=s) for s in stamps]
    assert best(*captures, date="2017-09-20").timestamp == stamps[1]
    assert best(*captures, date="2017-09").timestamp == stamps[0]
    assert best(*captures, date="2030").timestamp == stamps[2]


def test_ties_do_not_depend_on_the_order():
    one, other = entry(filename="a", offset=5), entry(filename="a", offset=7)
    assert best(one, other) == best(other, one) == one


@pytest.mark.parametrize("text", ["", "x", "202", "2024-13", "2024-02-30", "24", "2024/02"])
def test_a_date_that_is_none(text):
    with pytest.raises(ValueError, match="not a date"):
        parse_date(text)


def test_dates_are_in_utc():
    assert parse_date("1970") == 0
    assert parse_date("1970-01-02") == 86_400
    assert parse_date("19700101010000") == 3_600


def test_redirects_may_be_relative():
    sent = entry(status=301, redirect="/new?x=1")
    assert redirect_target(sent) == "https://www.example.org/new?x=1"
    assert redirect_target(sent._replace(redirect="//other.example/")) == "https://other.example/"
    assert redirect_target(entry(redirect="/new")) is None
    assert redirect_target(sent._replace(redirect="")) is None
    assert redirect_target(sent._replace(redirect="http://[")) is None


def test_numbers_may_be_numbers():
    result = json.loads(LINE.split(b" ", 2)[2])
    result.update(status=200, offset=1023, length=17351)
    line = LINE.split(b"{", 1)[0] + json.dumps(result).encode()
    assert parse_entry(line) == parse_entry(LINE)
