import pytest

from wikisum.crawl.wikipedia.page_kinds import (
    is_disambiguation,
    is_list_of_meanings,
    is_redirect,
    is_set_index,
)


@pytest.mark.parametrize(
    "template",
    ["surname", "Given name", "SIA", "ship index", "Set index article", "plant common name",
     "surname|Tavin", "Template:Nickname", "Фамилия"],
)  # fmt: skip
def test_set_index_templates(template):
    assert is_set_index("Tavin lists:\n* [[A]]\n{{" + template + "}}")


@pytest.mark.parametrize("template", ["Family name hatnote|A", "Infobox ship", "given name origin"])
def test_other_templates_are_no_set_index(template):
    assert not is_set_index("{{" + template + "}} text")


@pytest.mark.parametrize(
    ("lead", "has_sections", "is_list"),
    [
        ("Tavin may refer to:\nTavin, a town\nTavin, a river", False, True),
        ("Tavin may also refer to:", True, True),
        ("Tavin is a surname. Notable people with the surname include:\nAnn Tavin", False, True),
        ("Tavin may refer to:", False, False),
        ("Tavin is a town. The name may refer to a river.\nIt is old.", False, False),
        ("Tavin is a town.\nIt may refer to:\nA", False, False),
    ],
)
def test_leads_that_only_list_meanings(lead, has_sections, is_list):
    assert is_list_of_meanings(lead, has_sections) is is_list


@pytest.mark.parametrize("text", ["#REDIRECT [[B]]", "#WEITERLEITUNG [[B]]", "#転送 [[B]]"])
def test_redirects(text):
    assert is_redirect(text)


@pytest.mark.parametrize("text", ["{{disambiguation}}", "{{Begriffsklärung}}", "__DISAMBIG__",
                                  "{{неоднозначность}}", "{{aimai}}"])  # fmt: skip
def test_disambiguation_pages(text):
    assert is_disambiguation("A", f"A may be\n{text}")
