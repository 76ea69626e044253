import gzip
import io
import time
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.bufferedreaders import ChunkedDataReader

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.http import (
    MAX_ENCODINGS,
    MAX_GZIP_MEMBERS,
    MAX_HEADER_BYTES,
    content_type,
    decode_body,
    page_kind,
    parse_headers,
    parse_response,
)

PAGE = b"<html><p>Hello</p></html>"
MOST = 1 << 20


def chunked(pieces: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces if p) + b"0\r\n\r\n"


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data)[2:-4]


def decode(body: bytes, encoding: str = "", transfer: str = "", most: int = MOST) -> bytes:
    return decode_body({"content-encoding": encoding, "transfer-encoding": transfer}, body, most)


@pytest.mark.parametrize(
    ("start", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n", 200),
        (b"HTTP/1.0 404\r\n", 404),
        (b"HTTP/2 200\r\n", 200),
        (b"HTTP 503 Busy\n", 503),
        (b"\r\nhttp/1.1  301 Moved\n", 301),
    ],
)
def test_status_lines_are_read_leniently(start, status):
    assert parse_response(start + b"A: b\r\n\r\nbody") == (status, {"a": "b"}, b"body")


@pytest.mark.parametrize("data", [b"", b"<html>", b"HTTP/1.1 OK\r\n\r\n", b"HTTP/1.1 2000\r\n"])
def test_what_has_no_status_is_no_response(data):
    with pytest.raises(BadRecord) as caught:
        parse_response(data)
    assert caught.value.reason == "bad_record"


def test_a_huge_header_is_refused_in_time():
    for line in (b" x\n", b"content-encoding: a\n"):
        start = time.process_time()
        with pytest.raises(BadRecord, match="HTTP header of over"):
            parse_response(b"HTTP/1.1 200 OK\nA: b\n" + line * 1_000_000 + b"\n<p>")
        allowed = b"HTTP/1.1 200 OK\nA: b\n" + line * ((MAX_HEADER_BYTES - 50) // len(line))
        assert parse_response(allowed + b"\n<p>").body == b"<p>"
        assert time.process_time() - start < 5


def test_many_small_gzip_members_cost_their_record_and_no_time():
    empty = gzip.compress(b"", mtime=0)
    start = time.process_time()
    with pytest.raises(BadRecord) as caught:
        decode(empty * 200_000, "gzip", most=8 << 20)
    assert (caught.value.reason, time.process_time() - start < 5) == ("bad_encoding", True)
    few = gzip.compress(b"a", mtime=0) * MAX_GZIP_MEMBERS
    assert decode(few, "gzip") == b"a" * MAX_GZIP_MEMBERS


def test_a_chain_of_encodings_is_limited():
    body = b"text"
    for _ in range(MAX_ENCODINGS):
        body = gzip.compress(body)
    assert decode(body, ", ".join(["gzip"] * MAX_ENCODINGS)) == b"text"
    with pytest.raises(BadRecord, match="6 content encodings"):
        decode(body, ", ".join(["gzip"] * 6))


@pytest.mark.parametrize("end", [b"\r\n\r\n", b"\n\n", b"\n\r\n", b"\r\n\n"])
def test_the_body_begins_after_the_first_empty_line(end):
    assert parse_response(b"HTTP/1.1 200 OK\nA: b" + end + b"x\n\ny\r\n\r\nz").body.startswith(b"x")


def test_headers_are_folded_and_encodings_kept_together():
    lines = [b"A: one", b"  two\r", b"a-b : c", b"no colon", b"Content-Encoding: br",
             b"A-B: d", b"Content-Encoding: gzip"]  # fmt: skip
    assert parse_headers(lines) == {"a": "one two", "a-b": "d", "content-encoding": "br, gzip"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Text/HTML; Charset=UTF-8", ("text/html", "UTF-8")),
        ('text/html;charset="iso-8859-1"', ("text/html", "iso-8859-1")),
        ("text/html charset=utf-8", ("text/html", "utf-8")),
        ("text/html,text/html; charset=x", ("text/html", "x")),
        (" text/plain\t", ("text/plain", None)),
        ("", ("", None)),
    ],
)
def test_content_types_are_taken_apart(value, expected):
    assert content_type(value) == expected


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(PAGE), "gzip"),
        (gzip.compress(PAGE[:9]) + gzip.compress(PAGE[9:]), "x-gzip"),
        (zlib.compress(PAGE), "deflate"),
        (raw_deflate(PAGE), "deflate"),
        (gzip.compress(PAGE), "deflate"),
        (brotli.compress(PAGE), "br"),
        (zstandard.compress(PAGE), "zstd"),
        (brotli.compress(gzip.compress(PAGE)), "gzip, br"),
        (gzip.compress(PAGE), "identity, GZIP"),
        (PAGE, "gzip"),
        (PAGE, "br"),
        (PAGE, "zstd"),
        (PAGE, "utf-8"),
        ("Größe".encode("latin-1"), "gzip"),
        (b"", "gzip"),
    ],
)
def test_content_encodings_are_undone_or_forgiven(body, encoding):
    assert decode(body, encoding) == (body if body[:1] in (b"", b"G") else PAGE)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "compress"])
def test_what_cannot_be_decoded_nor_read_is_rejected(encoding):
    with pytest.raises(BadRecord) as caught:
        decode(b"\xff\x00\xfe" * 99, encoding)
    assert caught.value.reason == "bad_encoding"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_breaks_off_is_taken_as_far_as_it_goes(encoding):
    text = b" ".join(b"%d" % i for i in range(20_000))
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    part = decode(pack(text)[:-5000], encoding)
    assert 10_000 < len(part) < len(text)
    assert text.startswith(part)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("br", brotli.compress),
        ("zstd", zstandard.compress),
        ("gzip, gzip", lambda data: gzip.compress(gzip.compress(data))),
    ],
)
def test_bombs_are_not_inflated(encoding, pack):
    bomb = pack(b"\0" * (40 * MOST))
    tracemalloc.start()
    with pytest.raises(BadRecord) as caught:
        decode(bomb, encoding)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.reason == "page_too_large"
    assert peak < 8 * MOST


def test_a_body_of_just_the_limit_passes():
    body = b"x" * 5000
    for data, encoding in [(body, ""), (gzip.compress(body), "gzip"), (brotli.compress(body), "br"),
                           (zstandard.compress(body), "zstd")]:  # fmt: skip
        assert decode(data, encoding, most=5000) == body
        with pytest.raises(BadRecord):
            decode(data, encoding, most=4999)


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_chunks_are_joined(pieces):
    body = chunked(pieces)
    assert decode(body, transfer="chunked") == b"".join(pieces)
    assert decode(body, transfer="chunked") == ChunkedDataReader(io.BytesIO(body)).read()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (PAGE, PAGE),
        (b"5;name=value\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"5 \nhello\n0\n\n", b"hello"),
        (b"5\r\nhello\r\n9\r\nwor", b"hellowor"),
        (b"5\r\nhello\r\nand more", b"helloand more"),
        (b"3\r\nhello", b"3\r\nhello"),
        (b"5\r\nhello\r\n3\r\nworld", b"hello3\r\nworld"),
        (b"-1\r\nhello", b"-1\r\nhello"),
    ],
)
def test_wrong_chunks_are_forgiven(body, expected):
    assert decode(body, transfer="Chunked") == expected


def test_chunks_go_before_compression():
    body = gzip.compress(PAGE)
    assert decode(chunked([body[:7], body[7:]]), "gzip", "chunked") == PAGE


@pytest.mark.parametrize(
    ("mime", "body", "expected"),
    [
        ("text/html", PAGE, ("html", "text/html")),
        ("application/xhtml+xml", PAGE, ("html", "application/xhtml+xml")),
        ("text/plain", PAGE, ("text", "text/plain")),
        ("", b"  <!DOCTYPE html><p>", ("html", "text/html")),
        ("", b'<?xml version="1.0"?>\n<html xmlns="x">', ("html", "text/html")),
        ("application/octet-stream", b"Just some words.", ("text", "text/plain")),
        ("", b"<address of the sender>", ("text", "text/plain")),
    ],
)
def test_pages_are_reported_by_header_or_sniffed(mime, body, expected):
    assert page_kind(mime, body) == expected


@pytest.mark.parametrize(
    ("mime", "body"),
    [
        ("image/png", b""),
        ("text/css", b"p {}"),
        ("application/pdf", b"%PDF-1.4"),
        ("text/html", b"%PDF-1.4 more"),
        ("text/html", b"\x89PNG\r\n"),
        ("text/plain", b"PK\x03\x04zip"),
        ("", b"words and \x00 bytes"),
    ],
)
def test_what_is_no_page_is_rejected(mime, body):
    with pytest.raises(BadRecord) as caught:
        page_kind(mime, body)
    assert caught.value.reason == "not_html"


@settings(max_examples=150)
@given(
    st.binary(max_size=200),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "br,gzip", ""]),
    st.sampled_from(["", "chunked"]),
)
def test_no_body_raises_anything_else(body, encoding, transfer):
    try:
        size = len(decode(body, encoding, transfer, 1000))
    except BadRecord:
        return
    assert size <= 1000
