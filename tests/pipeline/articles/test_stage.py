import io

import pytest

from tests.builders import dump
from tests.pipeline.conftest import SETTINGS
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import read_articles, site_of_dump
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed


@pytest.fixture
def job(tmp_path) -> Job:
    return Job(Workspace(str(tmp_path / "out")), io.StringIO())


@pytest.mark.slow
def test_articles_of_a_dump(flow):
    articles = flow.results["articles"]
    (path,) = articles.paths("articles/")
    titles = [row["title"] for row in read_rows(flow.job.workspace.path(path))]
    assert titles == ["Tavin Bridge", "Osterby"]
    assert articles.counts == {"articles_out": 2, "citations_out": 1, "pages_in": 2}
    assert articles.extra["language"] == "en"
    assert articles.extra["cited_as"] == "citation"
    assert articles.extra["settings"]["split"] == "wikisum"


def test_the_same_call_is_not_run_again_and_a_limit_is(flow):
    assert read_articles(flow.job, SETTINGS, flow.dump, []).skipped
    one = SETTINGS.changed(ArticleSettings(limit=1))
    limited = read_articles(flow.job, one, flow.dump, [])
    assert not limited.skipped
    assert limited.counts["articles_out"] == 1


def test_titles_that_no_article_has_are_reported(flow, tmp_path):
    (tmp_path / "titles.txt").write_text("Osterby\nAtlantis\n")
    path = str(tmp_path / "titles.txt")
    settings = SETTINGS.changed(ArticleSettings(titles=path))
    result = read_articles(flow.job, settings, flow.dump, expand([path]))
    assert result.counts["articles_out"] == 1
    assert "Atlantis" in flow.messages


def test_the_language_is_that_of_the_first_dump(tmp_path):
    (tmp_path / "de.xml").write_bytes(dump(("A", "x")).replace(b'"en"', b'"de"'))
    (tmp_path / "none.xml").write_bytes(dump(("A", "x")).replace(b' xml:lang="en"', b""))
    (tmp_path / "x-multistream-index.txt").write_text("0:1:A\n")
    index, *_ = expand([str(tmp_path / "x-multistream-index.txt")])
    german = [index, *expand([str(tmp_path / "de.xml")])]
    assert site_of_dump(german).language == "de"
    assert site_of_dump(german, "fr").language == "fr"
    assert site_of_dump(expand([str(tmp_path / "none.xml")])).language == "en"
    for nothing in ([], [index]):
        with pytest.raises(ValueError, match="--articles names no dump, only an index"):
            site_of_dump(nothing)


@pytest.mark.parametrize("split", ["t2t", "t2t-nominal"])
def test_splits_by_shard_need_original_files(job, flow, split):
    settings = SETTINGS.changed(ArticleSettings(split=split))
    with pytest.raises(ValueError, match=f"--split {split} goes with the original WikiSum files"):
        read_articles(job, settings, flow.dump, [])


def test_lists_of_urls_need_original_files(job, flow):
    with pytest.raises(ValueError, match="--urls goes with the original WikiSum files"):
        read_articles(job, SETTINGS, flow.dump, [], flow.search_results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (b"no dump", "not_a_dump"),
        (dump(), "none was selected"),
        (dump(("A", "#REDIRECT [[B]]")), "redirect"),
    ],
)
def test_a_dump_without_articles_fails_the_job_with_its_reasons(job, tmp_path, data, reason):
    (tmp_path / "bad.xml").write_bytes(data)
    with pytest.raises(JobFailed, match=rf"no article was found in .*bad\.xml: {reason}"):
        read_articles(job, SETTINGS, expand([str(tmp_path / "bad.xml")]), [])
