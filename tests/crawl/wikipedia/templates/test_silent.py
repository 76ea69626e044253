import pytest

from wikisum.crawl.wikipedia.templates.silent import is_silent

BY_NAME = ("sfn", "citation needed", "coord", "cn", "reflist")
BY_START = ("infobox town", "use dmy dates", "ipac-en", "pp-protected", "taxobox")
BY_END = ("a-stub", "angola topics", "floh icon", "lead too short section", "verify?")


@pytest.mark.parametrize("name", [*BY_NAME, *BY_START, *BY_END])
def test_families_that_show_nothing(name):
    assert is_silent(name, has_values=True)


@pytest.mark.parametrize("name", ["nowrap", "small infobox of towns", "stub", "forum"])
def test_words_elsewhere_in_a_name_decide_nothing(name):
    assert not is_silent(name, has_values=False)


def test_a_language_code_is_an_icon_unless_it_has_a_text():
    assert is_silent("fr", has_values=False)
    assert not is_silent("fr", has_values=True)
    assert not is_silent("fran", has_values=False)
