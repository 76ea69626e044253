from dataclasses import replace

import pytest

from tests.pipeline.conftest import SETTINGS
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.wanted.settings import WantedSettings
from wikisum.pipeline.wanted.stage import want_pages


def urls_of(flow, result) -> dict[str, str]:
    (path,) = result.paths("wanted/")
    return {row["url"]: row["source"] for row in read_rows(flow.job.workspace.path(path))}


def test_cited_pages_and_search_results_are_wanted(flow):
    wanted = flow.results["wanted"]
    assert urls_of(flow, wanted) == {"http://a.example/": "citation", "http://b.example/": "search"}
    assert wanted.counts["urls_out"] == 2
    assert wanted.extra["settings"] == {"corpus": "combined"}


def test_bad_lines_are_reported(flow):
    assert flow.results["wanted"].counts["dropped_record_bad_line"] == 1
    assert "1 malformed line in the search results (see dropped/)" in flow.messages


@pytest.mark.slow
def test_the_same_call_is_not_run_again_and_another_corpus_is(flow):
    articles = flow.results["articles"]
    again = want_pages(flow.job, SETTINGS, flow.search_results, articles)
    assert again.skipped
    assert again.fingerprint == flow.results["wanted"].fingerprint
    cited_only = SETTINGS.changed(WantedSettings("citations"))
    other = want_pages(flow.job, cited_only, flow.search_results, articles)
    assert not other.skipped
    assert urls_of(flow, other) == {"http://a.example/": "citation"}


@pytest.mark.parametrize("corpus", ["citations", "search"])
def test_original_files_do_not_say_which_pages_are_cited(flow, corpus):
    articles = flow.results["articles"]
    original = replace(articles, extra={**articles.extra, "cited_as": "original"})
    settings = SETTINGS.changed(WantedSettings(corpus))
    with pytest.raises(ValueError, match=f"--corpus {corpus}: the original files do not"):
        want_pages(flow.job, settings, [], original)


@pytest.mark.slow
def test_one_shard_holds_the_pages_of_4096_articles(flow):
    articles = flow.results["articles"]
    for count, shards in ((4_095, 1), (8_192, 2)):
        many = replace(articles, counts={"articles_out": count}, fingerprint=str(count))
        assert len(want_pages(flow.job, SETTINGS, [], many).paths("wanted/")) == shards
