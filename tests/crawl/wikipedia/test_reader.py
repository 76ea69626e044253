import mwparserfromhell
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.reader import parse_plain, stands_in_sentence
from wikisum.crawl.wikipedia.site import site_of
from wikisum.crawl.wikipedia.wikitext import is_pathological


def lead(text: str, **more) -> str:
    return parse_plain(text, **more).sections[0][2]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        # apostrophes behind italics
        ("''Titanic''{{'s}} crew", "Titanic's crew"),
        ("''Titanic''{{'}}s crew", "Titanic's crew"),
        ("''Titanic''<nowiki/>'s crew", "Titanic's crew"),
        ("''Titanic'''s crew", "Titanic's crew"),
        ("''[[RMS Titanic|Titanic]]''&#39;s crew", "Titanic's crew"),
        ("L{{'}}'''Autriche''' est", "L'Autriche est"),
        ("Caf&eacute; &amp; bar", "Café & bar"),
        ("L''''Autriche''' est", "L'Autriche est"),
        ("<nowiki>''</nowiki>kept", "''kept"),
        # leftovers of parentheses and labels
        ("'''Foo''' ({{IPA-es|x}}, from Spanish) is", "Foo (from Spanish) is"),
        ("Kabul (Dari: {{IPA|x}}, {{lang|ps|y}}) is", "Kabul (y) is"),
        ("'''Azerbaijan''' (''Azərbaycan'' {{IPA-az|x}}) is", "Azerbaijan (Azərbaycan) is"),
        ("'''Asphalt''' (occasionally {{IPAc-en|x}}), also", "Asphalt, also"),
        # amounts in the money of today, which a template would compute
        ("cost $5 (${{Inflation|US|5|1929}} in {{CURRENTYEAR}} dollars). It", "cost $5. It"),
        (
            "over $800 (${{formatnum:{{Inflation|US|800|1861}}}} in current dollar terms), which",
            "over $800, which",
        ),
        # templates without text that take the place of a word, and links with a colon
        (
            "Oranjestad is located at {{Coord|12|19|N|70|1|W|}}.",
            "Oranjestad is located at 12°19′N 70°1′W.",
        ),
        ("Oranjestad ({{Coord|12|19|N|70|1|W}}) is the capital.", "Oranjestad is the capital."),
        ("{{Coord|12|19|N|70|1|W}}\nOranjestad is the capital.", "Oranjestad is the capital."),
        ("It is the same except for {{IPA|*b}}. It", "It is the same except for *b. It"),
        (
            "werden in der [[:Kategorie:Ort|Kategorie Ort]] gesammelt",
            "werden in der Kategorie Ort gesammelt",
        ),
        ("[[Otton Ier|Otton {{Ier}}]] est", "Otton Ier est"),
        # formulas in a sentence, but none on a line
        (r"the sum of <math>(x_i-\bar{x})^2</math>. It", "the sum of (x_i-x̄)². It"),
        ("where <math>n</math> is the number", "where n is the number"),
        ("As in\n:<math>E=mc^2</math>\nhere", "As in\nhere"),
        # hatnotes by hand and broken infoboxes
        (":''For other uses, see [[Bar]].''\n'''Foo''' is a town.", "Foo is a town."),
        ("''For other uses, see [[Bar]].''\n'''Foo''' is a town.", "Foo is a town."),
        ("{{Infobox x\n| a = {{nowrap|b}\n| c = d\n}}\n'''Foo''' is a town.", "Foo is a town."),
        ("{{Infobox x\n| a = b\n| c = d\n}\n'''Foo''' is a town.", "Foo is a town."),
        # image captions of other wikis
        ("[[ファイル:a.jpg|thumb|200px|字幕]]\nベルリンは", "ベルリンは"),
        ("[[ملف:a.jpg|تصغير|200px|x]]\nبرلين", "برلين"),
        ("[[קובץ:a.jpg|ממוזער|x]]\nברלין", "ברלין"),
        ("[[파일:a.jpg|섬네일|x]]\n베를린", "베를린"),
        ("[[Файл:a.jpg|мини|x]]\nБерлин", "Берлин"),
        ("[[Unbekannt:a.jpg|thumb|200px|x]]\nBerlin", "Berlin"),
        # a paragraph ends at an image, a list item at its line
        ("One.\n[[File:a.jpg|thumb|x]]\nTwo.", "One.\nTwo."),
        ("* item\nprose\ngoes on", "item\nprose goes on"),
        ('a <span style="display:none">key</span>b', "a b"),
        # parser functions
        ("{{#if:x|yes|no}} {{lc:ABC}} {{#expr:2*3}}", "yes abc 6"),
        ("{{formatnum:{{#expr:1000*2}}}} men", "2,000 men"),
    ],
)
def test_text_of_a_page(markup, text):
    assert lead(markup) == text


def test_numbers_follow_the_language_of_the_wiki():
    assert lead("Es sind {{formatnum:1234567}}.", site=site_of("de")) == "Es sind 1.234.567."
    assert lead("Il y a {{unité|1234567|km|2}}.", site=site_of("fr")) == "Il y a 1 234 567 km2."


def test_population_numbers_come_from_the_dump_or_leave_an_ellipsis():
    markup = "Ort ist mit rund {{Formnum|{{Metadaten Einwohnerzahl DE-BE|O}}}} Einwohnern groß."
    assert lead(markup, site=site_of("de", {})) == "Ort ist mit rund … Einwohnern groß."
    markup = "Die Stadt hat {{EWZ|DE-BE|11000000}} Einwohner."
    assert lead(markup) == "Die Stadt hat … Einwohner."
    bodies = {"EWZ": "{{#switch: {{{2}}} | 11000000 = 3755251 | 0 }}"}
    assert lead(markup, templates=bodies) == "Die Stadt hat 3755251 Einwohner."


def test_unknown_templates_in_sentences_are_guessed_and_counted():
    plain = parse_plain(
        "{{Banner|x}}\nThe {{frob|short word}} and {{frob|a [[link]]}}, {{gone}} ends."
        "{{frobref|12}}\n\n* {{Alone|x}}"
    )
    assert plain.sections[0][2] == "The short word and a link, ends."
    assert plain.unknown == {"frob": 2, "gone": 1, "frobref": 1}


@pytest.mark.parametrize(
    ("markup", "is_prose"),
    [
        ("{{x}}", False),
        ("A word {{x}}", True),
        ("A word\n{{x}}", False),
        ("[[France]]{{x}}", True),
        ("[http://a.example/ France]{{x}}", True),
        ("<!-- note -->{{x}}", False),
        ("[[France]] {{x}}", True),
        ("[[France]]\n{{x}}", False),
        ("{{x}} and more", True),
        ("{{x}}, and more", True),
        ("{{x}}More", False),
        ("{{x}} .", False),
    ],
)
def test_prose_beside_a_template(markup, is_prose):
    siblings = mwparserfromhell.parse(markup).nodes
    index = next(i for i, node in enumerate(siblings) if str(node) == "{{x}}")
    assert stands_in_sentence(siblings, index) == is_prose


def test_templates_of_the_dump_are_expanded():
    templates = {
        "Tonnage": "{{formatnum:{{{1}}}}} {{#if:{{{2|}}}|[[ton|{{{2}}}]]|tons}}",
        "Tn": "#REDIRECT [[Template:Tonnage]]",
        "Spaced": "#REDIRECT [[Template:Spaced en dash]]",
        "Citation needed": "<sup>[citation needed]</sup>",
    }
    text = "Of {{tn|12345}} and {{tonnage|5|long}}{{spaced}}old.{{citation needed}}"
    plain = parse_plain(text, templates=templates)
    assert plain.sections[0][2] == "Of 12,345 tons and 5 long – old."
    assert plain.unknown == {}


def test_references_in_parameters_are_cited_once():
    markup = "{{nowrap|a<ref>http://a.example/</ref>}} b"
    plain = parse_plain(markup, templates={"Nowrap": "<b>{{{1}}}</b>"})
    assert (plain.sections[0][2], plain.cited) == ("a b", ["http://a.example/"])


@pytest.mark.parametrize(
    ("parameters", "cited"),
    [
        ("url=http://a.example/|chapter-url=http://b.example/", ["http://a.example/"]),
        ("chapter-url=http://b.example/|archive-url=http://c.example/", ["http://b.example/"]),
        ("archive-url=http://c.example/", ["http://c.example/"]),
        ("url=http://a.example/?x=1&amp;y=2 (page 3)", ["http://a.example/?x=1&y=2"]),
        ("url=ftp://a.example/", ["ftp://a.example/"]),
        ("url=not an address", []),
        ("url=", []),
    ],
)
def test_the_page_that_a_template_cites(parameters, cited):
    assert parse_plain(f"a<ref>{{{{cite web|{parameters}}}}}</ref>").cited == cited


def test_categories_of_any_wiki():
    plain = parse_plain("[[Category:Towns in_Foo|x]] [[Kategorie:Ort]] [[:Category:No]] a")
    assert plain.categories == ["Towns in Foo", "Ort"]
    assert parse_plain("[[Kynd:A]] b", site_of("xx", {14: "Kynd"})).categories == ["A"]


SOUP = st.lists(
    st.sampled_from(["{{", "}}", "{{{", "}}}", "[[", "]]", "|", "=", "'", "''", "'''", "\n", " ",
                     "a", "convert", "1", "lang", "<ref>", "</ref>", "<nowiki>", "<br>", "(", ")",
                     "{|", "|}", "*", ":", "&#39;", "#if:", ";"]),
    max_size=80,
).map("".join)  # fmt: skip


@pytest.mark.slow
@settings(deadline=2000, max_examples=150)
@given(SOUP)
def test_soup_never_raises_and_leaves_no_braces(markup):
    if is_pathological(markup):
        return
    for _, _, text in parse_plain(markup, templates={"A": "{{{1|{{a}}}}}"}).sections:
        assert "{{" not in text
        assert "}}" not in text


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["{{foo|a}} b ", "''x'' ", "({{IPA|x}}, y) ", "{{convert|1|km}}"])
def test_long_paragraphs_take_linear_time(piece, growth):
    assert growth(lambda count: parse_plain(piece * count), 400, 4000) < 40
