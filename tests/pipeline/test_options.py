from dataclasses import fields, is_dataclass

import pytest

from wikisum.crawl.html import EXTRACTORS
from wikisum.pipeline import options
from wikisum.pipeline.setting import fault_of

KINDS = [kind for kind in vars(options).values()
         if is_dataclass(kind) and isinstance(kind, type)]  # fmt: skip


def test_extractors_are_those_of_the_crawl_package():
    assert set(options.EXTRACTORS) == set(EXTRACTORS)


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_are_within_their_bounds(kind):
    for field in fields(kind):
        if field.name != "method" and not is_dataclass(field.default):
            assert fault_of(field, field.default) is None


@pytest.mark.parametrize("kind", KINDS)
def test_help_texts_are_plain_phrases(kind):
    for field in fields(kind):
        text = field.metadata.get("help", "a text")
        assert text[0].islower() or text.split()[0].isupper()
        assert not text.endswith(".")


def test_splits_of_the_original_files_have_fractions_too():
    assert options.ArticleSettings("hierarchical").fractions == (0.9539, 0.0230, 0.0231)
    assert options.ArticleSettings("t2t").fractions == (0.8, 0.1, 0.1)
    assert options.ArticleSettings().fractions == (0.8, 0.1, 0.1)


def test_a_crawl_is_named_once():
    assert options.LocateSettings(("A", "B")).crawls == ("A", "B")
    with pytest.raises(ValueError, match="--crawl names a crawl twice"):
        options.LocateSettings(("A", "A"))


def test_roots_are_not_empty():
    for roots in ((), ("",)):
        with pytest.raises(ValueError, match="--crawl-root is empty"):
            options.RemoteSettings(roots=roots)


def test_the_user_agent_names_the_contact():
    assert options.LiveSettings(contact="you@host.example").user_agent.endswith(
        "(+you@host.example)"
    )
    assert "(" not in options.LiveSettings().user_agent
