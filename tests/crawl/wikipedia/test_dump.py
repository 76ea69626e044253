import bz2
import gzip
import io
import tracemalloc

import pytest
import zstandard

from tests.builders import dump
from wikisum.crawl.errors import BadArticle, BadLine
from wikisum.crawl.wikipedia import dump as dump_module
from wikisum.crawl.wikipedia.dump import (
    MAX_ARTICLE_CHARS,
    MAX_DEPTH,
    MAX_TAG_BYTES,
    Page,
    bz2_stream_offsets,
    dump_site,
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


def test_the_head_of_a_dump_names_language_and_namespaces():
    head = (
        '<mediawiki xml:lang="ast"><siteinfo><namespaces><namespace key="6">Ficheru</namespace>'
        '<namespace key="14">Categoría</namespace><namespace key="x">No</namespace>'
        '<namespace key="0" /></namespaces></siteinfo>'
    )
    site = dump_site(open_dump(io.BytesIO(f"{head}<page><title>A".encode())))
    assert site.language == "ast"
    assert "ficheru" in site.hidden
    assert not {"", "no"} & set(site.hidden)
    assert "categoría" in site.categories
    assert dump_site(open_dump(io.BytesIO(TWO))).language == "en"
    assert dump_site(open_dump(io.BytesIO(b"<mediawiki><page>"))) is None
    assert dump_site(open_dump(io.BytesIO(b"no dump"))) is None


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


def test_a_damaged_or_endless_index_is_refused():
    lines = b"".join(b"%d:1:A\n" % n for n in range(5000))
    with pytest.raises(BadLine, match="ends early"):
        index_offsets(io.BytesIO(bz2.compress(lines)[:-20]))
    with pytest.raises(BadLine, match="line 1 "):
        index_offsets(io.BytesIO(b"9" * 5000 + b":1:A\n"))
    with pytest.raises(BadLine, match="line 1 "):
        index_offsets(io.BytesIO(bz2.compress(b"x" * 5_000_000)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pack", "text"),
    [(pack, b"a") for pack in (bz2.compress, gzip.compress, zstandard.compress)]
    + [(bytes, text) for text in (b"a", b"&amp;", "ü".encode())],
)
def test_a_page_that_is_a_bomb_costs_itself_alone_and_no_memory(pack, text, monkeypatch):
    monkeypatch.setattr(dump_module, "MAX_ARTICLE_CHARS", 100_000)
    three = dump(("One", "text one"), ("Two", "@"), ("Three", "text three"))
    data = pack(three.replace(b"@", text * (40_000_000 // len(text))))
    assert reasons_and_peak(lambda: read_pages(open_dump(io.BytesIO(data)))) == BOMB_OUTCOME
    if pack is bz2.compress:
        assert reasons_and_peak(lambda: read_streams(io.BytesIO(data), 0, None)) == BOMB_OUTCOME


BOMB_OUTCOME = (["One", "article_too_large", "Three"], True)


def reasons_and_peak(read) -> tuple[list[str], bool]:
    """The title, or the reason, of each page; and whether little memory was held."""
    tracemalloc.start()
    found = [getattr(item, "reason", None) or item.title for item in read()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found, peak < 30_000_000


def test_offsets_count_what_was_skipped():
    three = dump(("One", "text one"), ("Two", "@"), ("Three", "text three"))
    data = three.replace(b"@", b"x" * (MAX_ARTICLE_CHARS + 5_000_000))
    assert [p.offset for p in pages_of(data)] == [
        data.index(b"<page><title>" + name) for name in (b"One", b"Two", b"Three")
    ]


def test_a_page_of_the_largest_size_is_kept():
    for size, kept in ((MAX_ARTICLE_CHARS, True), (MAX_ARTICLE_CHARS + 1, False)):
        (page,) = pages_of(dump(("One", "x" * size)))
        assert isinstance(page, Page) == kept


@pytest.mark.parametrize(
    "bomb",
    [
        b"<page a='" + b"x" * 40_000_000 + b"'></page>",
        b"<!--" + b"x" * 40_000_000 + b"-->",
        b"<a>" * 1_000_000,
    ],
)
def test_huge_and_nested_tags_end_the_file(bomb):
    data = TWO.replace(b"<page><title>Two", bomb + b"<page><title>Two")
    found, is_small = reasons_and_peak(lambda: read_pages(open_dump(io.BytesIO(data))))
    assert (found, is_small) == (["One", "bad_xml"], True)


def test_the_limits_of_tags_are_wide_enough():
    for within in (b"<a>" * (MAX_DEPTH - 1) + b"</a>" * (MAX_DEPTH - 1),
                   b"<!--" + b"x" * (MAX_TAG_BYTES - 300_000) + b"-->"):  # fmt: skip
        assert len(pages_of(TWO.replace(b"</mediawiki>", within + b"</mediawiki>"))) == 2


@pytest.mark.parametrize("namespace", ["²", "9" * 10_000, "", "x", "--1", "1 2"])
def test_a_namespace_that_is_not_a_number_costs_its_page(namespace):
    data = TWO.replace(b"<ns>0</ns>", f"<ns>{namespace}</ns>".encode(), 1)
    bad, good = pages_of(data)
    assert (bad.reason, good.title) == ("bad_page", "Two")


@pytest.mark.slow
def test_real_dump_is_read_whole(real_data):
    data = (real_data / "enwiki-dev.xml.bz2").read_bytes()
    pages = pages_of(data)
    assert len(pages) == 131
    assert sum(p.redirect is None for p in pages) == 70
