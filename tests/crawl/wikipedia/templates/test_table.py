import pytest

from wikisum.crawl.wikipedia.templates.rules import Call
from wikisum.crawl.wikipedia.templates.table import RULES, TABLE, guess, template_text


def test_every_rule_names_its_source():
    prefixes = ("Template:", "Modèle:", "Vorlage:", "Plantilla:", "Predefinição:", "Шаблон:",
                "Szablon:", "틀:")  # fmt: skip
    assert all(rule.source.startswith(prefixes) and rule.names for rule in RULES)
    assert len(TABLE) > 1000


def test_language_icons_are_silent_and_country_codes_are_not():
    assert template_text(Call("fr", [], {})) == ("", True)
    assert template_text(Call("gbr", [], {})) == ("United Kingdom", True)


@pytest.mark.parametrize(
    ("values", "named", "text"),
    [
        (["word"], {}, "word"),
        (["", "word"], {}, "word"),
        (["fr", "mot"], {}, "mot"),
        ([], {}, ""),
        (["word"], {"date": "May 2010"}, ""),
        (["word"], {"a": "", "b": "", "c": "", "d": ""}, ""),
        (["word " * 30], {}, ""),
        (["Category:x"], {}, ""),
        (["http://a"], {}, ""),
        (["—"], {}, ""),
    ],
)
def test_guess(values, named, text):
    assert guess(Call("unknown", values, named)) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("({{lang-sq|Shqipëri}})", "(Albanian: Shqipëri)"),
        ("{{1er janvier}}", "1er janvier"),
        ("{{84e|Congrès}}", "84e Congrès"),
    ],
)
def test_names_that_follow_a_pattern(markup, text, show):
    assert show(markup) == text
