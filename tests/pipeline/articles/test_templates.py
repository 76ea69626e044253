import bz2
import io

import pyarrow.dataset as ds
import pytest

from wikisum.pipeline.articles import dump as read_dump
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import READ_ARTICLES, read_articles
from wikisum.pipeline.articles.templates import STORE, read_templates, templates_of
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.setting import Settings


def page(title: str, namespace: int, text: str) -> bytes:
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><revision><text>{text}</text></revision>"
        "</page>"
    ).encode()


PAGES = [
    page("Ship", 0, "The ship of {{ton|4500}} sank in {{gone|x}} years. [[Kategorie:Schiff]]"),
    page(
        "Vorlage:Tonnen", 10, "{{formatnum:{{{1}}}}} Tonnen&lt;noinclude&gt;help&lt;/noinclude&gt;"
    ),
    page("Vorlage:Ton", 10, "#WEITERLEITUNG [[Vorlage:Tonnen]]"),
    page("Vorlage:Navi", 10, "{| \n|}"),
]


@pytest.fixture
def job(tmp_path):
    """A job on a multistream dump in German of one article and the templates behind it."""
    streams = [b'<mediawiki xml:lang="de"><siteinfo/>', *PAGES, b"</mediawiki>"]
    (tmp_path / "d.xml.bz2").write_bytes(b"".join(map(bz2.compress, streams)))
    return Job(Workspace(str(tmp_path / "out")), io.StringIO())


def articles(job, settings: ArticleSettings) -> tuple[list, dict]:
    dump = expand([job.workspace.out.replace("/out", "/d.xml.bz2")])
    found = read_templates(job, settings, dump)
    read_articles(job, Settings(settings), dump, [], None, templates_of(job, found))
    (row,) = ds.dataset(job.workspace.path("articles")).to_table().to_pylist()
    return found, row


@pytest.mark.slow
def test_templates_behind_an_article_are_expanded_in_it(job, monkeypatch):
    monkeypatch.setattr(read_dump, "MIN_PART_BYTES", 1)
    monkeypatch.setattr(read_dump, "_UNINDEXED_SCAN_BYTES", 1)
    (read, stored), row = articles(job, ArticleSettings())
    assert row["lead"] == "The ship of 4.500 Tonnen sank in x years."
    assert row["unknown_templates"] == ["gone"]
    assert row["categories"] == ["Schiff"]
    assert read.counts == {"templates_in": 3, "templates_out": 2}
    assert stored.counts == {"templates_stored": 2}
    assert job.workspace.finished(READ_ARTICLES.name).files
    again, _ = articles(job, ArticleSettings())
    assert [r.skipped for r in again] == [True, True]


@pytest.mark.parametrize("off", [{"dump_templates": False}, {"limit": 1}])
def test_no_pass_over_the_dump_where_none_is_wanted(job, off):
    found, row = articles(job, ArticleSettings(**off))
    assert found == []
    assert row["unknown_templates"] == ["gone", "ton"]
    assert STORE not in [f.path for f in job.workspace.finished(READ_ARTICLES.name).files]


@pytest.mark.slow
def test_other_templates_make_other_articles(job):
    _, row = articles(job, ArticleSettings())
    _, without = articles(job, ArticleSettings(dump_templates=False))
    assert row["lead"] != without["lead"]


@pytest.mark.slow
@pytest.mark.parametrize(("pattern", "count"), [("schiff", 1), ("^Sch", 1), ("^chiff", 0)])
def test_articles_are_chosen_by_category(job, pattern, count):
    if count:
        assert articles(job, ArticleSettings(category=pattern))[1]["categories"] == ["Schiff"]
    else:
        with pytest.raises(JobFailed, match="none was selected"):
            articles(job, ArticleSettings(category=pattern))


def test_a_bad_pattern_is_refused():
    with pytest.raises(ValueError, match=r"--category must be a regular expression, not '\('"):
        ArticleSettings(category="(")
