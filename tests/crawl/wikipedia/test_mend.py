import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.marks import APOSTROPHE, HOLE, ITEM, NOTHING, SPLIT
from wikisum.crawl.wikipedia.mend import clean, is_hatnote


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("A ( ; ) b , c ( , d)", "A b, c (d)"),
        ("Foo (, from Spanish) is", "Foo (from Spanish) is"),
        ("Foo ( also, born 1950) is", "Foo (born 1950) is"),
        ("Kabul (Dari:, Pashto: x) is", "Kabul (Pashto: x) is"),
        ("Azerbaijan (Azərbaycan ) is", "Azerbaijan (Azərbaycan) is"),
        ("Asphalt (occasionally ), also", "Asphalt, also"),
        (f"Foo ({HOLE}; born 1950) is", "Foo (born 1950) is"),
        (f"Foo (Persian: {HOLE}; x) is", "Foo (x) is"),
        (f"Foo, pronounced {HOLE}, is", "Foo, is"),
        (f"one{HOLE} two {HOLE} three", "one two three"),
        ("He (also) went (in 1950) there", "He (also) went (in 1950) there"),
        (f"{ITEM}item\nprose\ngoes on", "item\nprose goes on"),
        (f"a{SPLIT}b\n\nc", "a\nb\nc"),
        (f"''Titanic''{APOSTROPHE}s", "Titanic's"),
        (f"''Titanic''{NOTHING}'s", "Titanic's"),
        ("{{Infobox town\n| name = Foo\n| area = 5 km\n}\nFoo is a town.", "Foo is a town."),
        ("[[Файл:A.jpg|мини|Подпись]] Берлин", "Берлин"),
    ],
)
def test_mends_what_templates_leave(text, plain):
    assert clean(text) == plain


@pytest.mark.parametrize(
    "line",
    [
        "For other uses, see Bar.",
        "''For other uses, see [[Bar]].''",
        "Main article: History of Foo",
        "See also: Foo",
        "This article is about the town. For the river, see Foo (river).",
        "Not to be confused with Fu.",
        '"Foo" redirects here. For the song, see Foo (song).',
        "Für andere Bedeutungen siehe Foo.",
    ],
)
def test_hatnotes(line):
    assert is_hatnote(line)
    assert clean(f"{line}\n\nFoo is a town.") == "Foo is a town."


@pytest.mark.parametrize(
    "line",
    [
        "For ten years he lived in Rome. Critics see him as a painter.",
        "This article of the treaty was never signed.",
        "Mainly farmers live here.",
    ],
)
def test_sentences_are_not_hatnotes(line):
    assert not is_hatnote(line)


def test_a_hatnote_in_italics_right_above_the_text_is_removed():
    assert clean("''For other uses, see Bar.''\nFoo is a town.") == "Foo is a town."


@given(st.text(f"ab.,;:()[]{{}}|'= \n{SPLIT}{HOLE}{ITEM}{APOSTROPHE}{NOTHING}", max_size=200))
def test_no_mark_and_no_template_brace_is_left(text):
    plain = clean(text)
    assert not set(plain) & {SPLIT, HOLE, ITEM, APOSTROPHE, NOTHING}
    assert "{{" not in plain
    assert "}}" not in plain
    assert "  " not in plain
