import pyarrow.dataset as ds

from tests.builders import gzipped, stage_writer, warc_record
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.pages.scan import ScanFiles
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.pages.stage import SCAN
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.wanted.url_filter import FILTER, BuildFilter, write_keys


def test_scan_keeps_the_wanted_and_accounts_for_the_rest(tmp_path):
    text = b"<p>The bridge was opened in the summer of 1881.</p><p>Menu</p>"
    crawl = tmp_path / "a.warc.gz"
    crawl.write_bytes(
        gzipped(
            warc_record("https://www.a.example/?utm_source=x", text),
            warc_record("http://unwanted.example/", text),
            warc_record("http://b.example/", b"", status="404 Not Found"),
            warc_record("http://c.example/", b"<p>Menu</p>"),
        )
    )
    wanted = [url_key(u) for u in ("http://a.example/", "http://b.example/", "http://c.example/")]
    keys = write_keys(str(tmp_path), "keys", wanted)
    BuildFilter(str(tmp_path), 3, Ticker(None))(0, [keys.path])
    settings = PageSettings(language="en")
    path = str(tmp_path / FILTER)
    scan = ScanFiles(
        stage_writer(tmp_path / "out", SCAN),
        settings,
        path,
        str(tmp_path),
        None,
        Access(RemoteSettings(), None, 1),
    )
    result = scan(0, [FileShare(*expand([str(crawl)]))])
    (kept,) = ds.dataset(tmp_path / "out" / "documents").to_table().to_pylist()
    assert (kept["url"], kept["source_url"]) == (
        "http://a.example/",
        "https://www.a.example/?utm_source=x",
    )
    assert kept["paragraphs"] == ["The bridge was opened in the summer of 1881."]
    assert (kept["warc_file"], kept["offset"]) == ("a.warc.gz", 0)
    rows = ds.dataset(tmp_path / "out" / "dropped").to_table().to_pylist()
    assert {(r["url"], r["reason"]) for r in rows} == {
        ("http://b.example/", "http_status_404"),
        ("http://c.example/", "no_text"),
    }
    assert result.counts["records_in"] == 4
    assert result.counts["records_not_wanted"] == 1
    assert result.counts["documents_out"] == 1
