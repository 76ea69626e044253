import pytest

from tests.builders import LEAD, stage_writer, warc_record
from wikisum.crawl.warc.warc import PageRecord, Rejection
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.pages.read_records import FileShare
from wikisum.pipeline.records import Dropped
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.search.pages import CrawledPage, _read_page, read_pages, sample
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.ranker.search.phrases import WordHashes

PAGE = PageRecord(
    "https://www.a.example/x", 200, "text/html", "utf-8",
    f"<html lang='en'><title>A</title><p>{LEAD}</p></html>".encode(), "html", 5, 10, "D", "T",
)  # fmt: skip


@pytest.mark.parametrize(
    ("count", "max_count", "expected"),
    [(0, 3, []), (2, 3, [0, 1]), (3, 3, [0, 1, 2]), (10, 3, [0, 3, 6]), (7, 1, [0])],
)
def test_a_sample_is_spread_over_the_files(count, max_count, expected):
    crawl_files = [InputFile(str(number), str(number), 1, 0.0) for number in range(count)]
    assert [int(file.name) for file in sample(crawl_files, max_count)] == expected


def read(item: PageRecord | Rejection, language: str | None = None) -> CrawledPage | Dropped | None:
    return _read_page(item, "f.warc", "candidates", language, WordHashes())


def test_pages_of_a_file_are_counted_by_what_becomes_of_them(tmp_path):
    crawl_file = tmp_path / "a.warc"
    urls = ["http://a.example/", "http://en.wikipedia.org/wiki/A", "http://", "http://b.example/"]
    text = "Die Brücke wurde im Jahr 1881 eröffnet und trug die Züge, bis sie geschlossen wurde. "
    german = f"<html lang='de'><p>{text * 3}</p></html>".encode()
    bodies = [PAGE.payload, PAGE.payload, PAGE.payload, german]
    crawl_file.write_bytes(b"".join(map(warc_record, urls, bodies)))
    file = InputFile("a.warc", str(crawl_file), crawl_file.stat().st_size, 0.0)
    stage = Stage("candidates", "pages", (Output("found/", Dropped),))
    settings = SearchSettings(language="en")
    with stage_writer(tmp_path, stage).part(0) as part:
        share = FileShare(file, 0, file.size_bytes)
        found = list(read_pages([share], settings, Access(RemoteSettings(), None, 1), part))
        assert [(type(page), page.url) for page in found] == [
            (CrawledPage, "http://a.example/"), (Dropped, None),
        ]  # fmt: skip
        assert part.counts == {
            "records_in": 4, "records_wikipedia_itself": 1, "pages_other_language": 1,
        }  # fmt: skip


def test_a_page_has_both_urls():
    page = read(PAGE)
    assert isinstance(page, CrawledPage)
    assert (page.url, page.source_url) == ("http://a.example/x", PAGE.url)


def test_a_page_in_another_language_is_skipped_and_one_of_unknown_language_is_not():
    assert isinstance(read(PAGE, "en"), CrawledPage)
    assert read(PAGE, "de") is None
    assert isinstance(read(PAGE._replace(payload=b"<p>x</p>"), "de"), CrawledPage)


@pytest.mark.parametrize(
    ("item", "reason", "url"),
    [
        (
            Rejection("http://a.example/", "http_status_404", 5, "why"),
            "http_status_404",
            "http://a.example/",
        ),
        (PAGE._replace(url="http://"), "bad_url", None),
    ],
)
def test_an_unusable_record_is_dropped_with_its_place(item, reason, url):
    row = read(item)
    assert isinstance(row, Dropped)
    assert (row.kind, row.url, row.stage) == ("record", url, "candidates")
    assert (row.file, row.offset) == ("f.warc", 5)
    assert row.reason == reason
