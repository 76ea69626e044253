from dataclasses import replace

import pytest

from wikisum.pipeline.engine.workspace import ShardFile
from wikisum.pipeline.live.stage import FILTER, LIVE, LIVE_SCAN, documents_key, filter_missing


def test_the_key_of_documents_is_that_of_their_bytes_in_any_order(flow):
    scan = flow.results["scan"]
    one = replace(
        scan, files=[ShardFile("documents/x", 1, 1, "aa"), ShardFile("dropped/x", 1, 1, "b")]
    )
    other = replace(scan, files=[ShardFile("documents/y", 1, 1, "bb")])
    key = documents_key([one, other])
    assert documents_key([other, one]) == key
    assert documents_key([replace(one, files=one.files[:1]), other]) == key
    assert documents_key([one]) != key != documents_key([])


@pytest.mark.slow
def test_the_filter_of_missing_pages_is_made_again_for_other_documents(flow):
    wanted, scan = flow.results["wanted"], flow.results["scan"]
    none = filter_missing(flow.job, wanted, [scan])
    assert filter_missing(flow.job, wanted, [scan]).skipped
    all_missing = filter_missing(flow.job, wanted, [])
    assert not all_missing.skipped
    assert none.content() != all_missing.content()
    assert [file.path for file in none.files] == [FILTER]


def test_what_was_fetched_stays_and_its_scan_does_not():
    assert LIVE.is_kept
    assert not LIVE_SCAN.is_kept
