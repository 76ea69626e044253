import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures
from wikisum.crawl.web.targets import target_of
from wikisum.pipeline.live.archive import Segment, part_path, read_outcomes, rescue
from wikisum.pipeline.live.client import Exchange
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import Outcome

BODY = b"<html><p>A page of its own.</p></html>"


def exchange(url: str, status: int = 200, body: bytes = BODY, is_cut: bool = False, **headers: str):
    result = {"Content-Type": "text/html; charset=utf-8", **headers}
    return Exchange(
        target_of(url),
        [(b"Host", b"a.example"), (b"User-Agent", b"wikisum")],
        status,
        "OK" if status == 200 else "Moved",
        "HTTP/1.1",
        [(k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in result.items()],
        body,
        is_cut,
        "93.184.216.34",
        datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC),
    )


def outcome(url: str, reason: str = "fetched", final_url: str | None = None) -> Outcome:
    return Outcome(url, reason, "", 200, final_url or url, "live-0.warc.gz", "2024-02-03T04:05:06Z")


def write(path: Path, *pages: tuple[list[Exchange], Outcome]) -> Segment:
    segment = Segment(str(path), LiveSettings(contact="me@example.org"))
    for hops, result in pages:
        segment.write(hops, result)
    return segment


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "live" / "live-0.warc.gz"


def captures(path: Path) -> list[PageRecord | Rejection]:
    with path.open("rb") as raw:
        return list(read_captures(raw))


def test_a_page_is_read_back_as_it_was(path):
    packed = gzip.compress(BODY, mtime=0)
    answer = exchange(
        "https://a.example/é", body=packed, Content_Encoding="gzip", Transfer_Encoding="chunked",
        X_Odd="caf\xe9",
    )  # fmt: skip
    write(path, ([answer], outcome("http://a.example/%C3%A9"))).close()
    (found,) = captures(path)
    assert (found.url, found.payload, found.charset) == (
        "https://a.example/%C3%A9", BODY, "utf-8",
    )  # fmt: skip
    assert found.fetched_at == "2024-02-03T04:05:06Z"


def test_every_record_is_sound_to_another_reader(path):
    moved = exchange("http://a.example/", 301, b"", Location="https://b.example/")
    hops = [moved, exchange("https://b.example/", is_cut=True)]
    write(path, (hops, outcome("http://a.example/", final_url="https://b.example/"))).close()
    with path.open("rb") as raw:
        records = []
        for record in ArchiveIterator(raw, check_digests="raise"):
            record.content_stream().read()
            records.append((record.rec_type, record.rec_headers.get_header("WARC-Target-URI")))
    assert records == [
        ("warcinfo", None),
        ("response", "http://a.example/"), ("request", "http://a.example/"),
        ("response", "https://b.example/"), ("request", "https://b.example/"),
        ("resource", "http://a.example/"),
        ("metadata", "http://a.example/"),
    ]  # fmt: skip


def test_a_page_that_moved_is_found_by_the_url_that_was_wanted(path):
    moved = exchange("http://a.example/old", 301, b"", Location="https://b.example/new")
    final = exchange("https://b.example/new", body=gzip.compress(BODY), Content_Encoding="gzip")
    write(path, ([moved, final], outcome("http://a.example/old"))).close()
    found = captures(path)
    assert [(type(f), f.url) for f in found] == [
        (Rejection, "http://a.example/old"),
        (PageRecord, "https://b.example/new"),
        (PageRecord, "http://a.example/old"),
    ]
    assert (found[2].payload, found[2].charset) == (BODY, "utf-8")


def test_another_spelling_of_the_url_needs_no_second_copy(path):
    write(path, ([exchange("https://www.a.example/x/")], outcome("http://a.example/x"))).close()
    assert len(captures(path)) == 1


def test_outcomes_are_read_back_up_to_where_the_file_breaks_off(path):
    pages = [
        ([exchange(f"http://a.example/{i}")], outcome(f"http://a.example/{i}")) for i in range(3)
    ]
    write(path, *pages).close()
    data = path.read_bytes()
    found = list(read_outcomes(io.BytesIO(data)))
    assert [o for o, _ in found] == [result for _, result in pages]
    assert found[-1][1] == len(data)
    for end in (0, 5, found[0][1] - 1, found[0][1], found[1][1] + 7, len(data) - 1):
        part = list(read_outcomes(io.BytesIO(data[:end])))
        assert part == [f for f in found if f[1] <= end]
    garbled = data[: found[1][1]] + b"\0" * 50 + data[found[1][1] :]
    assert list(read_outcomes(io.BytesIO(garbled))) == found[:2]


@pytest.mark.parametrize("whole_pages", [0, 1, 2])
def test_a_killed_run_leaves_its_whole_pages(path, whole_pages):
    pages = [
        ([exchange(f"http://a.example/{i}")], outcome(f"http://a.example/{i}")) for i in range(3)
    ]
    segment = write(path, *pages[:whole_pages])
    segment._write_exchange(pages[whole_pages][0][0])  # the kill comes before its outcome
    segment._file.close()
    part = Path(part_path(str(path)))
    part.write_bytes(part.read_bytes() + b"\x1f\x8b\x08 half a member")
    assert not path.exists()
    assert rescue(str(path)) == (whole_pages > 0)
    assert not part.exists()
    assert path.exists() == (whole_pages > 0)
    if whole_pages:
        assert [c.url for c in captures(path)] == [
            f"http://a.example/{i}" for i in range(whole_pages)
        ]


def test_a_segment_without_pages_leaves_nothing(path):
    write(path).close()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("phrase", ["Non Trouv\xe9", "\xff\xfe", "a\tb"])
def test_a_status_line_and_headers_are_written_as_they_came(path, phrase):
    answer = exchange("http://a.example/", 404, X_Odd="caf\xe9 =\xc3")._replace(
        reason_phrase=phrase
    )
    write(path, ([answer], outcome("http://a.example/", "http_404"))).close()
    with path.open("rb") as raw:
        records = ArchiveIterator(raw, no_record_parse=True)
        (block,) = [r.raw_stream.read() for r in records if r.rec_type == "response"]
    assert block.startswith(f"HTTP/1.1 404 {phrase}\r\n".encode("latin-1"))
    assert b"X-Odd: caf\xe9 =\xc3\r\n" in block
    assert block.endswith(b"\r\n\r\n" + BODY)
