from pathlib import Path

import pytest

from tests.pipeline.live.test_archive import exchange, outcome
from wikisum.pipeline.engine import progress
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.live.fetcher import PageResult
from wikisum.pipeline.live.segments import Segments, finished_files, read_logs, recover
from wikisum.pipeline.live.settings import LiveSettings

URLS = [f"http://{i}.example/" for i in range(3)]


def fetched(url: str) -> PageResult:
    return PageResult([exchange(url)], outcome(url)._replace(file=""))


def write(out: Path, *urls: str, number: int = 0, segment_bytes: int = 1 << 20) -> None:
    settings = LiveSettings(contact="me@example.org", segment_bytes=segment_bytes)
    segments = Segments(str(out), number, settings, Ticker(None))
    for url in urls:
        segments.write(fetched(url))
    segments.close()


def names(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "live").iterdir())


def logged(out: Path) -> list[tuple[str, str]]:
    return [(o.url, o.file) for o in read_logs(str(out / "live"))]


def test_pages_go_to_one_segment_until_it_is_full(tmp_path):
    write(tmp_path / "one", *URLS)
    assert names(tmp_path / "one") == ["live-00000.warc.gz", "log-00000.parquet"]
    write(tmp_path / "each", *URLS, segment_bytes=1)
    assert logged(tmp_path / "each") == [
        (url, f"live-{number:05d}.warc.gz") for number, url in enumerate(URLS)
    ]


def test_each_page_counts_once_in_the_progress(tmp_path):
    ticker = Ticker(str(tmp_path))
    segments = Segments(str(tmp_path), 0, LiveSettings(contact="me@example.org"), ticker)
    for url in URLS:
        segments.write(fetched(url))
    segments.close()
    assert progress._sums(str(tmp_path)) == (3, 3)


def test_without_pages_nothing_is_written(tmp_path):
    write(tmp_path)
    assert not (tmp_path / "live").exists()


def test_the_next_segment_follows_the_last(tmp_path):
    assert recover(str(tmp_path)) == 0
    write(tmp_path, URLS[0], number=7)
    assert recover(str(tmp_path)) == 8


def test_a_lost_log_is_written_again_from_its_segment(tmp_path):
    write(tmp_path, *URLS)
    whole = list(read_logs(str(tmp_path / "live")))
    (tmp_path / "live/log-00000.parquet").unlink()
    assert recover(str(tmp_path)) == 1
    assert list(read_logs(str(tmp_path / "live"))) == whole


def test_a_log_without_its_segment_is_deleted(tmp_path):
    write(tmp_path, *URLS, segment_bytes=1)
    (tmp_path / "live/live-00002.warc.gz").unlink()
    assert recover(str(tmp_path)) == 2
    assert [url for url, _ in logged(tmp_path)] == URLS[:2]


def test_an_unfinished_segment_is_rescued(tmp_path):
    write(tmp_path, *URLS)
    folder = tmp_path / "live"
    (folder / "live-00000.warc.gz").rename(folder / ".live-00000.warc.gz.part")
    (folder / "log-00000.parquet").unlink()
    assert recover(str(tmp_path)) == 1
    assert [url for url, _ in logged(tmp_path)] == URLS


@pytest.mark.parametrize("hidden", [".live-00009.warc.gz.part", ".tmp"])
def test_finished_files_have_their_size_and_rows(hidden, tmp_path):
    write(tmp_path, *URLS)
    (tmp_path / "live" / hidden).write_bytes(b"x")
    segment, log = finished_files(str(tmp_path))
    assert (segment.path, segment.rows) == ("live/live-00000.warc.gz", 0)
    assert (log.path, log.rows) == ("live/log-00000.parquet", 3)
    assert segment.size_bytes == (tmp_path / segment.path).stat().st_size
    assert len({segment.sha256, log.sha256}) == 2
