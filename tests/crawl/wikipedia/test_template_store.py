import pickle

import pytest

from wikisum.crawl.wikipedia.expand import expand
from wikisum.crawl.wikipedia.template_store import TemplateStore, template_of, write_store
from wikisum.crawl.wikipedia.wikitext import parse_article


@pytest.mark.parametrize(
    ("title", "text", "template"),
    [
        (
            "Template:as of",
            "As of {{{1}}}<noinclude>{{doc}}</noinclude>",
            ("As of", "As of {{{1}}}"),
        ),
        ("Vorlage:Zahl_x", "<!-- c -->{{{1}}}", ("Zahl x", "{{{1}}}")),
        ("Template:Asof", "#REDIRECT [[Template:As of]]", ("Asof", "#REDIRECT [[Template:As of]]")),
        ("Template:As of/doc", "How to use it", None),
        ("Template:Box", "{| class=wikitable\n|}", None),
        ("Template:Lua", "{{#invoke:Convert|main}}", None),
        ("Orphan", "text", None),
    ],
)
def test_a_template_page_becomes_key_and_body(title, text, template):
    assert template_of(title, text) == template


def test_the_store_is_a_mapping_that_other_processes_can_open(tmp_path):
    path = tmp_path / "t.sqlite"
    assert write_store(str(path), [("A", "old"), ("B", "b"), ("A", "{{{1}}}!")]) == 2
    store = pickle.loads(pickle.dumps(TemplateStore(str(path))))
    assert dict(store) == {"A": "{{{1}}}!", "B": "b"}
    assert len(store) == 2
    assert "C" not in store
    with pytest.raises(KeyError):
        store["C"]
    assert expand("{{a|x}} {{b}} {{c}}", dict(store)) == "x! b {{c}}"


def test_an_article_is_parsed_with_the_store_in_the_guarded_process(tmp_path):
    path = str(tmp_path / "t.sqlite")
    write_store(
        path, [("Tonnage", "{{formatnum:{{{1}}}}} tons"), ("Tn", "#redirect [[T:Tonnage]]")]
    )
    made = parse_article("Ship", "The ship of {{tn|4500}} sank.", templates=TemplateStore(path))
    assert made.lead == "The ship of 4,500 tons sank."
    assert not made.fallback
    assert parse_article("Ship", "The ship of {{tn|4500}} sank.").unknown_templates == {"tn": 1}
