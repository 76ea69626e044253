from tests.pipeline.conftest import SETTINGS
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.pages.stage import (
    FETCH,
    FILTER_URLS,
    SCAN,
    filter_urls,
    scan_pages,
    scan_stage,
)
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.wanted.url_filter import FILTER

ACCESS = Access(RemoteSettings(), None, 1)


def test_wanted_pages_become_documents(flow):
    scanned = flow.results["scan"]
    rows = [
        row
        for path in scanned.paths("documents/")
        for row in read_rows(flow.job.workspace.path(path))
    ]
    assert {row["url"] for row in rows} == {"http://a.example/", "http://b.example/"}
    assert scanned.counts["documents_out"] == 2
    assert scanned.extra["wanted"] == flow.results["wanted"].fingerprint


def test_files_of_another_kind_are_reported(flow):
    assert flow.results["scan"].counts["dropped_not_a_warc"] == 1
    assert "1 file is not WARC, ARC or WET (see dropped/)" in flow.messages
    (notes,) = (file for file in flow.warcs if file.path.endswith("notes.txt"))
    scan_pages(flow.job, SETTINGS, ACCESS, [*flow.warcs, notes], flow.results["wanted"])
    assert "2 files are not WARC, ARC or WET (see dropped/)" in flow.messages


def test_the_same_call_is_not_run_again_and_other_settings_are(flow):
    wanted = flow.results["wanted"]
    assert scan_pages(flow.job, SETTINGS, ACCESS, flow.warcs, wanted).skipped
    small = SETTINGS.changed(PageSettings(max_page_bytes=10))
    found = scan_pages(flow.job, small, ACCESS, flow.warcs, wanted)
    assert not found.skipped
    assert found.counts["dropped_page_too_large"] == 2
    assert "documents_out" not in found.counts


def test_the_filter_holds_every_wanted_url(flow):
    keys = filter_urls(flow.job, flow.results["wanted"])
    assert keys.skipped
    assert [file.path for file in keys.files if file.path == FILTER] == [FILTER]


def test_each_scan_writes_under_its_own_name():
    assert SCAN.outputs[0].prefix == "documents/documents-scan-"
    assert (
        scan_stage("live-scan", FILTER_URLS).outputs[0].prefix == "documents/documents-live-scan-"
    )
    assert scan_stage("live-scan", FILTER_URLS).reasons == SCAN.reasons
    assert {"wrong_length", "wrong_record"} == set(FETCH.reasons) - set(SCAN.reasons)
