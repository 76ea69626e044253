from dataclasses import fields

import pytest

from tests.golden_settings import stage_settings, stored
from wikisum.crawl.html import EXTRACTORS
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.corpora.settings import ColumnSettings, CorpusSettings
from wikisum.pipeline.examples.settings import (
    ExampleSettings,
    GraphSettings,
    OrderSettings,
    VocabSettings,
)
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages import settings as pages
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.rerank.settings import RankSettings
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.pipeline.wanted.settings import WantedSettings
from wikisum.ranker.setting import fault_of

KINDS = [
    ArticleSettings, WantedSettings, LocateSettings, PageSettings, ExampleSettings, OrderSettings,
    GraphSettings, VocabSettings, SearchSettings, RankSettings, LiveSettings, RemoteSettings,
    CorpusSettings, ColumnSettings,
]  # fmt: skip


def test_extractors_are_those_of_the_crawl_package():
    assert set(pages.EXTRACTORS) == set(EXTRACTORS)


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_within_their_bounds(kind):
    for field in fields(kind):
        if field.name != "method":
            assert fault_of(field, field.default) is None


def test_defaults_and_bounds_are_those_that_users_know():
    assert stage_settings(KINDS) == stored("stages")


@pytest.mark.parametrize("kind", KINDS)
def test_settings_cannot_be_changed(kind):
    settings = kind("lexrank") if kind is RankSettings else kind()
    with pytest.raises(AttributeError):
        setattr(settings, fields(kind)[0].name, None)


@pytest.mark.parametrize("kind", KINDS)
def test_help_texts_are_plain_phrases(kind):
    for field in fields(kind):
        text = field.metadata.get("help", "a text")
        assert text[0].islower() or text.split()[0].isupper()
        assert not text.endswith(".")


def test_splits_of_the_original_files_have_fractions_too():
    assert ArticleSettings("hierarchical").fractions == (0.9539, 0.0230, 0.0231)
    assert ArticleSettings("t2t").fractions == (0.8, 0.1, 0.1)
    assert ArticleSettings().fractions == (0.8, 0.1, 0.1)


def test_a_crawl_is_named_once():
    assert LocateSettings(("A", "B")).crawls == ("A", "B")
    with pytest.raises(ValueError, match="--crawl names a crawl twice"):
        LocateSettings(("A", "A"))


def test_roots_are_not_empty():
    for roots in ((), ("",)):
        with pytest.raises(ValueError, match="--crawl-root is empty"):
            RemoteSettings(roots=roots)


def test_the_user_agent_names_the_contact():
    assert LiveSettings(contact="you@host.example").user_agent.endswith("(+you@host.example)")
    assert "(" not in LiveSettings().user_agent
