import bz2
import gzip
import io

import pytest
import zstandard

from tests.builders import dump
from wikisum.crawl.errors import BadArticle, BadLine
from wikisum.crawl.wikipedia.dump import (
    Page,
    bz2_stream_offsets,
    dump_language,
    index_offsets,
    open_dump,
    read_pages,
    read_streams,
)

TWO = dump(("One", "text one"), ("Two", "text two"))


def pages_of(data: bytes) -> list:
    return list(read_pages(open_dump(io.BytesIO(data))))


def multistream() -> tuple[bytes, list[bytes]]:
    head, _, rest = TWO.partition(b"<page>")
    first, second = (b"<page>" + p for p in rest.removesuffix(b"</mediawiki>").split(b"<page>"))
    streams = [bz2.compress(part) for part in (head, first, second, b"</mediawiki>")]
    return b"".join(streams), streams


@pytest.mark.parametrize(
    "pack",
    [bytes, bz2.compress, gzip.compress, zstandard.compress, lambda d: multistream()[0]],
)
def test_same_pages_however_packed(pack):
    assert [(p.title, p.text) for p in pages_of(pack(TWO))] == [
        ("One", "text one"),
        ("Two", "text two"),
    ]


def test_a_page_has_namespace_redirect_and_place():
    xml = b'<mediawiki><page><title>A</title><ns>4</ns><redirect title="B"/></page></mediawiki>'
    assert pages_of(xml) == [Page("A", 4, "B", "", 11)]
    assert dump_language(open_dump(io.BytesIO(TWO))) == "en"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (b"no xml at all", "not_a_dump"),
        (b"<html><body/></html>", "not_a_dump"),
        (TWO.replace(b"<title>Two", b"<ti<tle>Two"), "bad_xml"),
        (TWO[:-30], "truncated_file"),
        (bz2.compress(TWO * 1)[:-9], "truncated_file"),
        (gzip.compress(TWO, mtime=0)[:-9], "truncated_file"),
        (b'<!DOCTYPE m [<!ENTITY a "b">]>' + TWO, "bad_xml"),
    ],
)
def test_faults_come_last_and_are_not_raised(data, reason):
    *before, fault = pages_of(data)
    assert isinstance(fault, BadArticle)
    assert fault.reason == reason
    assert all(isinstance(p, Page) for p in before)


def test_pages_before_a_cut_are_kept():
    assert [getattr(p, "title", None) for p in pages_of(TWO[:-30])] == ["One", None]


def test_control_characters_do_not_end_the_dump():
    assert [p.title for p in pages_of(TWO.replace(b"text one", b"text\x02one"))] == ["One", "Two"]


def test_ranges_of_streams_hold_each_page_once():
    data, streams = multistream()
    offsets = bz2_stream_offsets(io.BytesIO(data))
    assert offsets == [sum(map(len, streams[:i])) for i in range(4)]
    cut = offsets[2]
    both = [*read_streams(io.BytesIO(data), 0, cut), *read_streams(io.BytesIO(data), cut, None)]
    assert [(p.title, p.offset) for p in both] == [("One", offsets[1]), ("Two", offsets[2])]


def test_a_damaged_stream_costs_its_own_pages():
    data, streams = multistream()
    broken = bytearray(data)
    broken[len(streams[0]) + 30] ^= 0xFF
    first, second = read_streams(io.BytesIO(bytes(broken)), 0, None)
    assert isinstance(first, BadArticle)
    assert first.offset == len(streams[0])
    assert second.title == "Two"


def test_index_gives_distinct_offsets():
    lines = b"635:10:A\n635:12:B: the second\n16113:39:C\n"
    assert index_offsets(io.BytesIO(bz2.compress(lines))) == [635, 16113]
    with pytest.raises(BadLine, match="line 2"):
        index_offsets(io.BytesIO(b"635:10:A\nnonsense\n"))


def test_real_dump_is_read_whole(real_data):
    data = (real_data / "enwiki-dev.xml.bz2").read_bytes()
    pages = pages_of(data)
    assert len(pages) == 131
    assert sum(p.redirect is None for p in pages) == 70
