import pytest

from tests.builders import LEAD, gzipped, warc_record
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.files import InputFile, expand
from wikisum.pipeline.estimate import sample_pages
from wikisum.pipeline.estimate.rates import Assumptions
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.setting import Settings

ENGLISH = Settings(ExampleSettings(language="en"))
ACCESS = Access(RemoteSettings(), None, 1)


def sampled(tmp_path, *records: bytes, wanted: tuple[str, ...] = (), settings: Settings = ENGLISH):
    (tmp_path / "a.warc.gz").write_bytes(gzipped(*records))
    keys = frozenset(map(url_key, wanted))
    warcs = expand([str(tmp_path / "a.warc.gz")])
    return sample_pages.sample_pages(warcs, keys, settings, ACCESS, Assumptions())


def page(url: str, text: str = LEAD, **headers: str) -> bytes:
    return warc_record(url, f"<html lang='en'><p>{text}</p></html>".encode(), **headers)


def test_records_matches_and_pages_by_hand(tmp_path):
    urls = [f"http://{i}.example/" for i in range(4)]
    records = [*map(page, urls), page("http://x.example/", "Short."), page("no address")]
    found = sampled(tmp_path, *records, wanted=tuple(urls[:2]))
    assert (found.files, found.remote_files) == (1, 0)
    assert (found.records, found.matches) == (6, 2)
    assert found.read_bytes == found.total_bytes
    # with two matches the other three pages are the sample
    assert (found.pages.pages, found.pages.html, found.pages.documents) == (3, 3, 2)
    assert (found.pages.paragraphs, found.pages.chars) == (2, 2 * len(LEAD))
    assert found.pages.own_language == 2
    size = len("<html lang='en'><p></p></html>")
    assert found.pages.bytes == 3 * size + 2 * len(LEAD) + len("Short.")


def test_plain_text_is_counted_apart(tmp_path):
    lines = f"One.\nTwo.\n{LEAD}\n".encode()
    text = warc_record("http://text.example/", lines, kind="conversion")
    found = sampled(tmp_path, page("http://html.example/", f"{LEAD}\n"), text)
    assert (found.pages.pages, found.pages.html, found.pages.text_lines) == (2, 1, 3)
    assert (found.pages.chars, found.pages.text_chars) == (2 * len(LEAD), len(LEAD))


def test_pages_of_other_languages_are_counted_apart(tmp_path):
    records = [page(f"http://{i}.example/") for i in range(2)]
    for language, own in (("en", 2), ("de", 0), ("any", 2)):
        settings = Settings(ExampleSettings(language=language))
        pages = sampled(tmp_path, *records, settings=settings).pages
        assert (pages.documents, pages.own_language) == (2, own)


def test_enough_matches_are_the_sample(tmp_path):
    urls = [f"http://{i}.example/" for i in range(10)]
    records = [*map(page, urls), *(page(f"http://other{i}.example/") for i in range(3))]
    assert sampled(tmp_path, *records, wanted=tuple(urls)).pages.pages == 10
    assert sampled(tmp_path, *records, wanted=tuple(urls[:9])).pages.pages == 4


@pytest.mark.parametrize(
    ("count", "read_count"),
    [(16, 16), (18, 17), (33, 16 + 8), (34, 16 + 8 + 1), (60, 16 + 8 + 5 + 3)],
)
def test_after_dense_pages_fewer_and_fewer_are_read(count, read_count, tmp_path, monkeypatch):
    """Each of 0 to 15, of 16 to 31 the even ones, of 32 to 47 every third, then every fourth."""
    monkeypatch.setattr(sample_pages, "DENSE_PAGES", 16)
    found = sampled(tmp_path, *(page(f"http://{i}.example/") for i in range(count)))
    assert found.records == count
    assert found.pages.pages == read_count


def test_places_of_files():
    whole = sample_pages.PLACES * sample_pages.BYTES_PER_PLACE
    assert sample_pages._places(0) == sample_pages._places(whole) == [(0, whole)]
    large = sample_pages._places(whole + 4)
    assert [start for start, _ in large] == [0, whole // 4 + 1, whole // 2 + 2, whole // 4 * 3 + 3]
    assert all(end - start == sample_pages.BYTES_PER_PLACE for start, end in large)


@pytest.mark.parametrize(
    ("name", "size_bytes"),
    [("a.warc.gz", 1.0e9), ("a.warc.wet.gz", 0.12e9), ("wetter.warc.gz", 1.0e9)],
)
def test_a_file_of_unknown_size_has_the_assumed_one(name, size_bytes):
    file = InputFile(name, name, 0, 0.0)
    assert sample_pages._assumed_bytes(file, Assumptions()) == size_bytes


def test_places_in_a_large_crawl_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_pages, "BYTES_PER_PLACE", 2000)
    text = b"<p>The bridge was opened in the summer of %d.</p>"
    records = [warc_record(f"http://{i}.example/", text % i) for i in range(200)]
    (tmp_path / "a.warc.gz").write_bytes(gzipped(*records))
    warcs = expand([str(tmp_path / "a.warc.gz")])
    access = Access(RemoteSettings(), None, 1)
    found = sample_pages.sample_pages(warcs, frozenset(), Settings(), access, Assumptions())
    assert found.read_bytes < found.total_bytes
    assert found.records * found.scale == pytest.approx(200, rel=0.25)
    assert found.pages.documents >= found.pages.pages - 4 > 20


def test_a_page_that_cannot_be_read_counts_and_damage_does_not(tmp_path):
    missing = warc_record("http://b.example/", b"", status="404 Not Found")
    damaged = page("http://c.example/").replace(b"WARC/1.0", b"WARC/x.0")
    found = sampled(tmp_path, page("http://a.example/"), missing, damaged)
    assert (found.pages.pages, found.pages.documents) == (2, 1)
