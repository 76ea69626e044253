import gzip
import io
import random
import tracemalloc
import zlib

import brotli
import pytest
import zstandard

from crawl.warc import Capture, Rejected, read_captures
from tests.builders import gzipped, warc_record

PAGE = b"<html><p>Hello</p></html>"
A = warc_record("http://a.example/", PAGE)
B = warc_record("http://b.example/", PAGE + b"!")
C = warc_record("http://c.example/", b"Plain text.", kind="conversion")


def read(data: bytes, **settings) -> list:
    return list(read_captures(io.BytesIO(data), **settings))


def urls(items: list) -> list:
    return [i.url for i in items if isinstance(i, Capture)]


@pytest.mark.parametrize(
    "pack",
    [
        lambda *r: b"".join(r),
        gzipped,
        lambda *r: gzip.compress(b"".join(r)),
        lambda *r: b"".join(zstandard.compress(x) for x in r),
    ],
)
def test_every_packing_gives_the_same_pages(pack):
    items = read(pack(A, B, C))
    assert urls(items) == ["http://a.example/", "http://b.example/", "http://c.example/"]
    assert [i.payload for i in items] == [PAGE, PAGE + b"!", b"Plain text."]
    assert [i.kind for i in items] == ["html", "html", "text"]


@pytest.mark.parametrize("pack", [gzipped, lambda *r: b"".join(r)])
def test_the_range_of_a_record_holds_just_that_record(pack):
    data = pack(A, B, C)
    for item in read(data):
        (again,) = read(data[item.offset : item.offset + item.length])
        assert again._replace(offset=item.offset) == item


def test_zstd_dictionary_frame():
    samples = [A + bytes([i]) * 50 for i in range(200)]
    dictionary = zstandard.train_dictionary(2000, samples)
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    frame = b"\x5d\x2a\x4d\x18" + len(dictionary.as_bytes()).to_bytes(4, "little")
    data = frame + dictionary.as_bytes() + packer.compress(A) + packer.compress(B)
    assert urls(read(data)) == ["http://a.example/", "http://b.example/"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (warc_record("http://x.example/", PAGE, status="404 Not Found"), "http_status_404"),
        (warc_record("http://x.example/", b"%PDF-1.4"), "not_html"),
        (warc_record("http://x.example/", PAGE, http_Content_Type="image/png"), "not_html"),
        (warc_record("http://x.example/", PAGE, WARC_Truncated="length"), "truncated_record"),
        (warc_record("http://x.example/", PAGE, kind="revisit"), "revisit"),
        (warc_record("http://x.example/", b"\xff\x00\xfe" * 99, http_Content_Encoding="gzip"),
         "bad_encoding"),
        (warc_record("http://x.example/", b"x" * 5000), "page_too_large"),
        (A.replace(b"HTTP/1.1", b"HTPT/1.1"), "bad_record"),
    ],
)  # fmt: skip
def test_what_is_no_page_is_rejected_with_its_reason(record, reason):
    first, second = read(gzipped(record, B), max_payload_bytes=1000)
    assert (first.reason, first.offset) == (reason, 0)
    assert second.url == "http://b.example/"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(PAGE, mtime=0), "gzip"),
        (zlib.compress(PAGE), "deflate"),
        (zlib.compress(PAGE)[2:-4], "deflate"),
        (brotli.compress(PAGE), "br"),
        (zstandard.compress(PAGE), "zstd"),
        (brotli.compress(gzip.compress(PAGE, mtime=0)), "gzip, br"),
        (PAGE, "gzip"),
        (PAGE, "br"),
    ],
)
def test_content_encodings_are_undone_or_forgiven(body, encoding):
    (item,) = read(warc_record("http://x.example/", body, http_Content_Encoding=encoding))
    assert item.payload == PAGE


def test_chunks_are_joined_and_wrong_ones_forgiven():
    chunked = b"5\r\n<html\r\n14\r\n><p>Hello</p></html>\r\n0\r\n\r\n"
    for body in (chunked, PAGE):
        (item,) = read(warc_record("http://x.example/", body, http_Transfer_Encoding="chunked"))
        assert item.payload == PAGE


def test_a_bomb_is_not_inflated():
    bomb = gzip.compress(b"\0" * (200 << 20))
    tracemalloc.start()
    (item,) = read(warc_record("http://x.example/", bomb, http_Content_Encoding="gzip"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert item.reason == "page_too_large"
    assert peak < 60 << 20


def test_only_wanted_pages_are_read():
    asked = []
    items = read(
        gzipped(A, B, C), wanted=lambda url: asked.append(url) or url.endswith("b.example/")
    )
    assert urls(items) == ["http://b.example/"]
    assert asked == ["http://a.example/", "http://b.example/", "http://c.example/"]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"no warc at all", b"\x1f\x8b\x08 broken"])
def test_what_is_no_warc_is_said_to_be_none(data):
    (item,) = read(data) or [None]
    assert item is None or item.reason in ("not_a_warc", "truncated_record")
    if data.strip():
        assert item is not None


def test_damage_costs_its_own_record():
    data = bytearray(gzipped(A, B, C))
    start = len(gzipped(A))
    data[start + 40] ^= 0xFF
    first, lost, third = read(bytes(data))
    assert isinstance(lost, Rejected)
    assert (lost.url, lost.reason, lost.offset) == (None, "bad_record", start)
    assert (first.url, third.url) == ("http://a.example/", "http://c.example/")


def test_a_plain_file_goes_on_at_the_next_header():
    first, lost, third = read(A + b"garbage\r\nmore of it\r\n" + C)
    assert lost.offset == len(A)
    assert (first.url, third.url) == ("http://a.example/", "http://c.example/")


def test_cuts_anywhere_keep_what_stands_before():
    data = gzipped(A, B, C)
    bounds = [len(gzipped(A)), len(gzipped(A, B)), len(data)]
    for cut in range(1, len(data), 7):
        items = read(data[:cut])
        assert len(urls(items)) == sum(cut >= b for b in bounds)
        assert cut in bounds or isinstance(items[-1], Rejected)
    for cut in range(1, len(A + C), 7):
        read((A + C)[:cut])


def test_flipped_bits_never_stop_the_reader():
    rng = random.Random(3)
    for pack in (gzipped, lambda *r: b"".join(r)):
        whole = pack(*[A, B, C] * 4)
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            read(bytes(data))


def test_a_huge_record_is_passed_over_with_flat_memory():
    class Huge(io.RawIOBase):
        def __init__(self):
            self.parts = [
                warc_record("http://x.example/", b"")[:-4].replace(b"200 OK", b"200 OK"),
            ]
            head = A.partition(b"\r\n\r\n")[0]
            head = head.replace(b"Content-Length: ", b"Content-Length: 100000000")
            size = int(head.rpartition(b": ")[2])
            self.parts = iter([head + b"\r\n\r\n", *[b"x" * (1 << 16)] * (size >> 16)])
            self.tail = [b"x" * (size & 0xFFFF) + b"\r\n\r\n" + B]

        def read(self, size=-1):
            part = next(self.parts, None)
            return part if part is not None else (self.tail.pop() if self.tail else b"")

    tracemalloc.start()
    items = list(read_captures(Huge(), max_payload_bytes=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [getattr(i, "reason", i.url) for i in items] == ["page_too_large", "http://b.example/"]
    assert peak < 4 << 20


BROKEN = {
    "bad.arc": (0, ["not_a_warc"]),
    "example-bad-non-chunked.warc.gz": (1, ["revisit"]),
    "example-bad.warc.gz.bad": (1, ["revisit", "http_status_302"]),
    "example-digest.warc": (0, []),
    "example-iana.org-chunked.warc": (1, []),
    "example-resource.warc.gz": (1, []),
    "example-space-in-target-uri.warc.gz": (0, ["not_html"]),
    "example-space-in-url.arc": (0, ["truncated_record"]),
    "example-trunc.warc": (1, ["bad_record"]),
    "example-wget-bad-target-uri.warc.gz": (3, []),
    "example-wrong-chunks.warc.gz": (0, ["truncated_record", "bad_record"]),
    "example.arc": (1, []),
    "example.arc.gz": (1, []),
    "example.warc": (1, ["revisit"]),
    "example.warc.gz": (1, ["revisit"]),
    "post-test.warc.gz": (0, ["not_html"] * 3),
}


def test_files_that_others_broke_end_well(real_data):
    folder = real_data / "broken-warcs"
    assert {p.name for p in folder.iterdir()} == set(BROKEN)
    for name, (captures, reasons) in BROKEN.items():
        items = read((folder / name).read_bytes())
        assert len(urls(items)) == captures, name
        assert [i.reason for i in items if isinstance(i, Rejected)] == reasons, name


def test_real_pages_are_read_and_their_ranges_hold_them(real_data):
    data = (real_data / "pages-dev.warc.gz").read_bytes()
    items = read(data)
    assert len(urls(items)) == len(items) == 142
    for item in items[::20]:
        (again,) = read(data[item.offset : item.offset + item.length])
        assert again._replace(offset=item.offset) == item
