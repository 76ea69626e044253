import gzip
import io
import itertools
import random
import tracemalloc
from collections import Counter

import pytest
import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.builders import gzipped, warc_record
from tests.crawl_packs import BY_RECORD, PACKS, arc_record, zstd_records
from wikisum.crawl.warc.members import BLOCK_BYTES, MAX_BLANK_BYTES
from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures

PAGE = b"<html><p>Hello</p></html>"
A = warc_record("http://a.example/", PAGE)
B = warc_record("http://b.example/", PAGE + b"!")
C = warc_record("http://c.example/", b"Plain text.", kind="conversion")
URLS = ["http://a.example/", "http://b.example/", "http://c.example/"]


def read(data: bytes, **settings) -> list:
    return list(read_captures(io.BytesIO(data), **settings))


def urls(items: list) -> list:
    return [i.url for i in items if isinstance(i, PageRecord)]


def rejected(items: list) -> list:
    return [(i.reason, i.offset) for i in items if isinstance(i, Rejection)]


def content(items: list) -> list:
    return [(i.url, i.payload) for i in items if isinstance(i, PageRecord)]


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_every_packing_gives_the_same_pages(pack):
    items = read(pack(A, B, C))
    assert urls(items) == URLS
    assert [i.payload for i in items] == [PAGE, PAGE + b"!", b"Plain text."]
    assert [i.kind for i in items] == ["html", "html", "text"]
    assert len({i.offset for i in items}) == 3


@pytest.mark.parametrize("name", BY_RECORD)
def test_the_range_of_a_record_holds_just_that_record(name):
    data = PACKS[name](A, B, C)
    place = 0
    for item in read(data):
        assert item.offset == place
        place += item.length
        (again,) = read(data[item.offset : item.offset + item.length])
        assert again._replace(offset=item.offset) == item
    assert place == len(data)


def test_a_capture_says_what_the_record_says():
    record = warc_record("<http://x.example/a b>", PAGE, WARC_Payload_Digest="sha1:ABC",
                         http_Content_Type="Text/HTML; charset=latin1")  # fmt: skip
    (item,) = read(record)
    assert item == PageRecord(
        "http://x.example/a%20b", 200, "text/html", "latin1", PAGE, "html", 0, len(record),
        "sha1:ABC", "2024-01-01T00:00:00Z",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["WARC_Payload_Digest", "WARC_Block_Digest"])
def test_the_digest_of_extracted_text_may_be_that_of_its_block(name):
    record = warc_record("http://x.example/", b"Text.", "conversion", **{name: "sha1:ABC"})
    (item,) = read(record)
    assert item.digest == "sha1:ABC"


@pytest.mark.parametrize("pack", [PACKS["plain"], gzipped, PACKS["gzip in one"]])
def test_arc_files_are_read(pack):
    head = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n\n"
    first = b"filedesc://x.arc 0.0.0.0 20140216050221 text/plain %d\n" % len(head) + head
    records = [
        first,
        arc_record("http://a.example/", PAGE),
        arc_record("http://b.example/ b", PAGE),
    ]
    items = read(pack(*records))
    assert [(i.url, i.payload, i.fetched_at) for i in items] == [
        ("http://a.example/", PAGE, "2014-02-16T05:02:21Z"),
        ("http://b.example/%20b", PAGE, "2014-02-16T05:02:21Z"),
    ]


def test_zstd_dictionary_frame():
    samples = [A + bytes([i]) * 50 for i in range(200)]
    dictionary = zstandard.train_dictionary(2000, samples)
    packer = zstandard.ZstdCompressor(dict_data=dictionary)
    for held in (dictionary.as_bytes(), zstandard.compress(dictionary.as_bytes())):
        frame = b"\x5d\x2a\x4d\x18" + len(held).to_bytes(4, "little") + held
        assert urls(read(frame + packer.compress(A) + packer.compress(B))) == URLS[:2]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (warc_record("http://x.example/", PAGE, status="404 Not Found"), "http_status_404"),
        (warc_record("http://x.example/", b"%PDF-1.4"), "not_html"),
        (warc_record("http://x.example/", PAGE, http_Content_Type="image/png"), "not_html"),
        (warc_record("http://x.example/", PAGE, Content_Type="text/dns"), "not_a_response"),
        (warc_record("http://x.example/", PAGE, WARC_Truncated="length"), "truncated_record"),
        (warc_record("http://x.example/", PAGE, WARC_Segment_Number="1"), "truncated_record"),
        (warc_record("http://x.example/", PAGE, kind="revisit"), "revisit"),
        (warc_record("http://x.example/", b"\xff\x00\xfe" * 99, http_Content_Encoding="gzip"),
         "bad_encoding"),
        (warc_record("http://x.example/", b"x" * 5000), "page_too_large"),
        (warc_record("http://x.example/", b"x" * 500_000), "page_too_large"),
        (warc_record("http://x.example/", gzip.compress(b"x" * 5000), http_Content_Encoding="gzip"),
         "page_too_large"),
        (A.replace(b"HTTP/1.1", b"HTPT/1.1"), "bad_record"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", BY_RECORD)
def test_what_is_no_page_is_rejected_with_its_reason(record, reason, name):
    first, second = read(PACKS[name](record, B), max_payload_bytes=1000)
    assert (first.reason, first.offset) == (reason, 0)
    assert first.url in ("http://x.example/", "http://a.example/")
    assert second.url == "http://b.example/"


@pytest.mark.parametrize(
    "change",
    [
        (b"Content-Length: ", b"Content-Length: -"),
        (b"Content-Length: ", "Content-Length: ²".encode()),
        (b"Content-Length: ", b"Content-Length: " + b"9" * 5000),
        (b"Content-Length", b"Content-Lenght"),
        (b"WARC-Target-URI", b"WARC-Target-UR1"),
    ],
)
@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_a_wrong_header_costs_its_record(change, pack):
    items = read(pack(A, B.replace(*change), C))
    assert content(items) == content(read(pack(A, C)))
    assert [reason for reason, _ in rejected(items)] == ["bad_record"]


def test_a_missing_content_type_is_made_up_for():
    records = [
        warc_record("http://x.example/", b"words", http_Content_Type="",
                    WARC_Identified_Payload_Type="text/html"),
        warc_record("http://x.example/", PAGE, http_Content_Type=""),
        warc_record("http://x.example/", b"words", http_Content_Type=""),
    ]  # fmt: skip
    assert [i.mime for i in read(gzipped(*records))] == ["text/html", "text/html", "text/plain"]


def test_only_wanted_pages_are_read():
    asked = []
    missing = warc_record("http://m.example/", PAGE, status="404 Not Found")
    cut = gzipped(A, B, missing, warc_record("http://q.example/", PAGE, kind="request"), C)
    items = read(cut, wanted=lambda url: asked.append(url) or url.endswith("b.example/"))
    assert content(items) == [("http://b.example/", PAGE + b"!")]
    assert len(items) == 1
    assert asked == [*URLS[:2], "http://m.example/", URLS[2]]


def test_damage_is_reported_also_of_unwanted_records():
    (item,) = read(gzipped(A, B)[:-10], wanted=lambda url: False)
    assert item[:3] == (None, "truncated_record", len(gzipped(A)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\0" * 100_000,
        b"no warc at all",
        b"<html>\n" * 30_000,
        b"\x1f\x8b\x08 broken",
        b"PK\x03\x04" * 50,
        gzip.compress(b""),
        gzip.compress(b"text"),
        gzip.compress(b"text" * 9999)[:-20],
        zstandard.compress(b"text"),
        b"\x5d\x2a\x4d\x18\x04\0\0\0\x28\xb5\x2f\xfd",
        b"\x50\x2a\x4d\x18\xff\xff\xff\xff",
    ],
)
def test_what_is_no_warc_is_said_to_be_none(data):
    (item,) = read(data)
    assert item[:3] == (None, "not_a_warc", 0)


@pytest.mark.parametrize("data", [b"WARC/1.0\r\nWAR", gzip.compress(b"WARC/1.0\r\nWAR")])
def test_a_file_cut_within_its_first_lines_is_truncated_and_not_foreign(data):
    (item,) = read(data)
    assert item[:3] == (None, "truncated_record", 0)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@pytest.mark.parametrize("at", [0, 3, 60, -3])
def test_damage_costs_its_own_record(name, at):
    pack = PACKS[name]
    start, end = len(pack(A)), len(pack(A, B))
    data = bytearray(pack(A, B, C))
    data[start + at if at >= 0 else end + at] ^= 0xFF
    first, lost, third = read(bytes(data))
    assert (lost.reason, lost.offset) == ("bad_record", start)
    assert (first.url, third.url) == ("http://a.example/", "http://c.example/")
    assert f"{end - start} bytes are lost" in lost.detail


def test_a_record_that_fails_its_checksum_is_reported_by_its_url():
    data = bytearray(gzipped(A, B))
    data[-5] ^= 1
    _, lost = read(bytes(data))
    assert (lost.url, lost.reason) == ("http://b.example/", "bad_record")


@pytest.mark.parametrize("name", ["plain", "gzip", "gzip in one"])
def test_what_lies_between_records_is_passed_over(name):
    items = read(PACKS[name](A, b"garbage\r\nmore of it\r\n", C))
    assert urls(items) == ["http://a.example/", "http://c.example/"]
    ((reason, offset),) = rejected(items)
    assert (reason, offset) == ("bad_record", len(gzipped(A) if name == "gzip" else A))


def test_endless_line_ends_get_one_reason_and_cost_their_member():
    flood = b"\n" * 3 * MAX_BLANK_BYTES
    alone, *others = read(gzipped(flood)), read(gzipped(flood, A)), read(gzipped(A + flood, B))
    assert rejected(alone) == [("not_a_warc", 0)]
    assert f"over {MAX_BLANK_BYTES} bytes of line ends" in alone[0].detail
    assert [rejected(items) for items in others] == [[("bad_record", 0)]] * 2
    assert [urls(items) for items in others] == [URLS[:1], URLS[1:2]]
    assert others[1][0].url == URLS[0]


@pytest.mark.parametrize("name", BY_RECORD)
@pytest.mark.parametrize("before", [0, 2, 10, 100, 4000])
def test_the_next_record_is_found_where_two_blocks_meet(name, before):
    size = 3 * BLOCK_BYTES - before - len(PACKS[name](A))
    data = PACKS[name](A) + b"x" * (size - 1) + b"\n" + PACKS[name](B)
    items = read(data)
    assert urls(items) == URLS[:2]
    assert rejected(items) == [("bad_record", len(PACKS[name](A)))]
    assert f"; {size} bytes are lost" in items[1].detail


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_padding_between_members_is_no_damage(name):
    data = PACKS[name](A) + bytes(100_000) + PACKS[name](B) + b"\r\n\0"
    assert [i.url for i in read(data)] == URLS[:2]


def test_what_lies_before_the_first_record_is_reported_even_if_no_page_follows():
    for garbage in (b"garbage", gzip.compress(b"garbage")):
        (item,) = read(garbage + gzipped(A), wanted=lambda url: False)
        assert item[:3] == (None, "bad_record", 0)


@pytest.mark.parametrize("name", ["plain", "gzip", "gzip in one", "zstd"])
@pytest.mark.parametrize("claimed", [1, 150, 400, 2000, 10**9, 10**17])
def test_a_wrong_length_costs_one_record(name, claimed):
    length = len(B.partition(b"\r\n\r\n")[2]) - 4
    wrong = B.replace(b"Content-Length: %d" % length, b"Content-Length: %d" % claimed)
    items = read(PACKS[name](A, wrong, C, A))
    assert [i for i in content(items) if i[0] != "http://b.example/"] == content(read(A + C + A))
    assert rejected(items)


def test_a_record_longer_than_its_own_gzip_member_goes_on_in_the_next():
    data = gzipped(A, B[:250], B[250:], C)
    items = read(data)
    assert content(items) == content(read(A + B + C))
    assert (items[1].offset, items[2].offset) == (len(gzipped(A)), len(data) - len(gzipped(C)))


@pytest.mark.parametrize("name", PACKS)
def test_cuts_anywhere_keep_what_stands_before(name):
    pack = PACKS[name]
    data = pack(A, B, C)
    whole = content(read(data))
    ends = [len(pack(A)), len(pack(A, B)), len(data)]
    for cut in range(1, len(data), 3):
        items = read(data[:cut])
        assert content(items) == whole[: len(urls(items))]
        if name in BY_RECORD:
            room = 4 if name == "plain" else 0  # the empty lines after a record may be missing
            assert len(urls(items)) == sum(cut >= end - room for end in ends)
            assert any(0 <= end - cut <= room for end in ends) or isinstance(items[-1], Rejection)


def test_cuts_of_a_real_file(real_data):
    data = (real_data / "commoncrawl-one-record.warc.wet.gz").read_bytes()
    for cut in range(1, len(data), 11):
        (item,) = read(data[:cut])
        assert item.reason == "truncated_record" or cut < 20


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKS)
def test_flipped_bits_cost_at_most_their_record(name):
    rng = random.Random(3)
    pages = [warc_record(f"http://x.example/{i}", b"<p>%d</p>" % i**9) for i in range(8)]
    whole = PACKS[name](*pages)
    sound = Counter(content(read(whole)))
    for _ in range(120):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        lost = sound - Counter(content(read(bytes(data))))
        assert len(lost) <= (1 if name in BY_RECORD else 8)


def test_noise_never_stops_the_reader():
    rng = random.Random(5)
    for pack in PACKS.values():
        whole = pack(*[A, B, C] * 3)
        for _ in range(40):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 5)):
                at = rng.randrange(len(data))
                data[at : at + rng.randrange(200)] = rng.randbytes(rng.randrange(200))
            items = read(bytes(data))
            assert len(items) < 30


@pytest.mark.parametrize("names", list(itertools.product(PACKS, PACKS)), ids="+".join)
def test_files_may_be_joined(names):
    data = b"".join(PACKS[name](A, B, C) for name in names)
    items = read(data)
    assert urls(items) == URLS * 2
    assert rejected(items) == []


class Trickle(io.RawIOBase):
    """Gives bytes by drops, and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        return self.data.read(min(size, 37))


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_the_stream_may_give_few_bytes_at_a_time(pack):
    data = pack(A, B, C)
    assert list(read_captures(Trickle(data))) == read(data)


class Parts(io.RawIOBase):
    """The parts one after the other, never held together."""

    def __init__(self, *parts) -> None:
        self.parts = itertools.chain(*parts)

    def read(self, size: int = -1) -> bytes:
        return next(self.parts, b"")


def peak_bytes(raw, **settings) -> tuple[list, int]:
    """What became of each record, and the most memory that it took."""
    tracemalloc.start()
    items = [getattr(i, "reason", i.url) for i in read_captures(raw, **settings)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return items, peak


@pytest.mark.slow
def test_a_record_over_the_limit_is_passed_over_with_flat_memory():
    size = 200 << 20
    head, _, _ = A.rpartition(b"Content-Length")
    head += b"Content-Length: %d\r\n\r\n" % size
    body = itertools.repeat(b"x" * (1 << 16), size >> 16)
    items, peak = peak_bytes(Parts([head], body, [b"\r\n\r\n", B]), max_payload_bytes=1 << 20)
    assert items == ["page_too_large", "http://b.example/"]
    assert peak < 6 << 20


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzipped, PACKS["plain"], zstd_records])
def test_a_long_file_is_read_with_flat_memory(pack):
    rng = random.Random(1)
    pages = [pack(warc_record(f"http://x.example/{i}", rng.randbytes(30_000).hex().encode()))
             for i in range(40)]  # fmt: skip
    raw = Parts(itertools.chain.from_iterable(itertools.repeat(pages, 10)))
    items, peak = peak_bytes(raw)
    assert len(items) == 400
    assert peak < 10 << 20


@pytest.mark.slow
@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_member_that_is_a_bomb_is_passed_over(compress):
    head, _, _ = A.rpartition(b"Content-Length")
    bomb = compress(head + b"Content-Length: 99000000\r\n\r\n" + bytes(99_000_000) + b"\r\n\r\n")
    items, peak = peak_bytes(io.BytesIO(bomb + compress(B)), max_payload_bytes=1 << 20)
    assert items == ["page_too_large", "http://b.example/"]
    assert peak < 40 << 20


def written_by_warcio(is_gzip: bool) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=is_gzip)
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "a test"}))
    for i, kind in enumerate(["response", "request", "response", "resource"]):
        lines = [("Content-Type", "text/html")]
        http = StatusAndHeaders("200 OK", lines, protocol="HTTP/1.1")
        body = io.BytesIO(PAGE * (i + 1))
        record = writer.create_warc_record(
            f"http://{i}.example/", kind, payload=body, warc_content_type="text/html"
            if kind == "resource" else "", http_headers=None if kind == "resource" else http,
        )  # fmt: skip
        writer.write_record(record)
        record.raw_stream.close()
    return out.getvalue()


def read_by_warcio(data: bytes) -> list:
    pages = []
    records = ArchiveIterator(io.BytesIO(data))
    for record in records:
        if record.rec_type in ("response", "resource", "conversion"):
            url = record.rec_headers.get_header("WARC-Target-URI")
            payload = record.content_stream().read()
            place = (records.get_record_offset(), records.get_record_length())
            pages.append((url.strip("<>"), payload, *place))
    return pages


@pytest.mark.parametrize("is_gzip", [True, False])
def test_agrees_with_warcio_on_what_it_writes(is_gzip):
    data = written_by_warcio(is_gzip)
    items = read(data)
    end = 0 if is_gzip else 4  # warcio leaves out the empty lines of a plain record
    ours = [(i.url, i.payload, i.offset, i.length - end) for i in items]
    assert ours == read_by_warcio(data)
    assert [i.digest[:5] for i in items] == ["sha1:"] * 3


REAL_FILES = [
    ("pages-dev.warc.gz", 142, 0),
    ("wikigen-dev.warc.wet.gz", 2937, 25),
    ("commoncrawl-one-record.warc.gz", 1, 0),
    ("commoncrawl-one-record.warc.wet.gz", 1, 0),
    ("broken-warcs/example.warc.gz", 1, 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pages", "bad"), REAL_FILES)
def test_real_files_agree_with_warcio_and_their_ranges_hold_their_records(
    real_data, name, pages, bad
):
    data = (real_data / name).read_bytes()
    items = read(data)
    captures = [i for i in items if isinstance(i, PageRecord)]
    assert (len(captures), len(items) - len(captures)) == (pages, bad)
    theirs = {offset: (url, payload) for url, payload, offset, _ in read_by_warcio(data)}
    for item in captures:
        url, payload = theirs[item.offset]
        assert url.replace(" ", "%20") == item.url
        if not item.url.startswith("http"):  # warcio takes their HTTP headers for content
            payload = payload.partition(b"\r\n\r\n")[2]
        assert payload == item.payload
        (again,) = read(data[item.offset : item.offset + item.length])
        assert again._replace(offset=item.offset) == item


# File: its captures as (offset, length, payload bytes), its rejections as (reason, offset).
BROKEN = {
    "bad.arc": ([], [("bad_record", 0), ("bad_record", 202), ("bad_record", 262)]),
    "example-bad-non-chunked.warc.gz": ([(1197, 1369, 1270)], [("revisit", 3370)]),
    "example-bad.warc.gz.bad": (
        [(460, 1991, 1270)],
        [("revisit", 3161), ("http_status_302", 4771)],
    ),
    "example-digest.warc": ([], []),  # requests only
    "example-iana.org-chunked.warc": ([(405, 7974, 7223)], []),
    "example-resource.warc.gz": ([(802, 977, 1303)], []),
    "example-space-in-target-uri.warc.gz": ([], [("not_html", 241)]),
    "example-space-in-url.arc": ([], [("truncated_record", 151)]),
    "example-trunc.warc": ([(1197, 1363, 1270)], [("bad_record", 2560)]),
    "example-wget-bad-target-uri.warc.gz": (
        [(824, 1154, 1270), (2295, 386, 49), (2681, 586, 471)],
        [],
    ),
    "example-wrong-chunks.warc.gz": ([(0, 2009, 1270)], []),  # header and body are two members
    "example.arc": ([(151, 1657, 1270)], []),
    "example.arc.gz": ([(171, 856, 1270)], []),
    "example.warc": ([(1197, 1369, 1270)], [("revisit", 3370)]),
    "example.warc.gz": ([(784, 1228, 1270)], [("revisit", 2621)]),
    "post-test.warc.gz": ([], [("not_html", 0), ("not_html", 1196), ("not_html", 2395)]),
}


def test_files_that_others_broke_end_well(real_data):
    folder = real_data / "broken-warcs"
    assert {p.name for p in folder.iterdir()} == set(BROKEN)
    for name, (captures, reasons) in BROKEN.items():
        items = read((folder / name).read_bytes())
        places = [(i.offset, i.length, len(i.payload)) for i in items if isinstance(i, PageRecord)]
        assert (places, rejected(items)) == (captures, reasons), name


def test_a_page_cut_at_the_size_limit_is_kept_on_demand():
    record = warc_record("http://x.example/", PAGE, WARC_Truncated="length")
    (item,) = read_captures(io.BytesIO(record), keep_truncated=True)
    assert isinstance(item, PageRecord)
    assert item.payload == PAGE
    for cut in ("time", "disconnect"):
        record = warc_record("http://x.example/", PAGE, WARC_Truncated=cut)
        (item,) = read_captures(io.BytesIO(record), keep_truncated=True)
        assert item[:2] == ("http://x.example/", "truncated_record")
