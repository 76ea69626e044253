import json

import pyarrow.parquet as pq
import pytest

from tests.builders import document, stage_writer
from wikisum.pipeline.engine.retry import PreviousRun
from wikisum.pipeline.pages.fetched_before import Fetched, FetchedBefore
from wikisum.pipeline.pages.stage import FETCH
from wikisum.pipeline.records import DOCUMENT, Capture, Document, Dropped, to_table


def capture(url: str, offset: int = 10, file: str = "a.warc.gz") -> Capture:
    return Capture(url, url, "CC", file, offset, 20, "D", "text/html", 200, "20240101000000", 0)


URLS = [f"http://{i}.example/" for i in range(5)]


@pytest.fixture
def before(tmp_path) -> FetchedBefore:
    """Five documents in row groups of two, a failure to keep, and one to do again."""
    with stage_writer(tmp_path / "old", FETCH).part(0) as part:
        for url in URLS:
            counts = json.dumps({"paragraphs_kept": URLS.index(url)})
            part.write(Fetched(url, "a.warc.gz", 10, counts))
        for url, reason in (("http://keep/", "no_text"), ("http://again/", "http_503")):
            part.drop("record", reason, url=url, file="a.warc.gz", offset=10)
        path = tmp_path / "old" / part.path(Document)
    rows = to_table([document(url) for url in URLS], DOCUMENT)
    pq.write_table(rows, path, row_group_size=2)
    previous = PreviousRun(str(tmp_path / "old"), frozenset(["http_503"]))
    with stage_writer(tmp_path / "new", FETCH).part(0) as part:
        return FetchedBefore(previous, part)


def test_documents_come_back_in_any_order(before):
    for number in (4, 0, 3, 2, 1, 1):
        result, paragraphs = before.outcome(capture(URLS[number]))
        assert result == document(URLS[number])
        assert paragraphs == {"paragraphs_kept": number}


def test_a_failure_is_kept_unless_it_is_to_be_retried(before):
    assert before.has(capture("http://keep/"))
    result, paragraphs = before.outcome(capture("http://keep/"))
    assert isinstance(result, Dropped)
    assert (result.reason, paragraphs) == ("no_text", {})
    assert not before.has(capture("http://again/"))


def test_url_file_and_offset_together_name_a_capture(before):
    assert before.has(capture(URLS[0]))
    for other in (capture("http://x/"), capture(URLS[0], 11), capture(URLS[0], file="b.warc.gz")):
        assert not before.has(other)
        with pytest.raises(KeyError):
            before.outcome(other)


@pytest.mark.parametrize("has_folder", [True, False])
def test_without_a_previous_run_nothing_is_known(has_folder, tmp_path):
    previous = PreviousRun(str(tmp_path / "none"), frozenset()) if has_folder else None
    with stage_writer(tmp_path, FETCH).part(0) as part:
        assert not FetchedBefore(previous, part).has(capture(URLS[0]))
