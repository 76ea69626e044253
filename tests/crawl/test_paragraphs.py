import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.boilerplate import _NOTICE, is_notice
from wikisum.crawl.paragraphs import (
    _is_spaced,
    drop_reason,
    drop_reasons,
    split_long,
    word_count,
)


@pytest.mark.parametrize(
    ("paragraph", "reason"),
    [
        ("The bridge was opened in 1881.", None),
        ("Was the bridge opened in 1881?", None),
        ("Мост был открыт в тысяча восемьсот году.", None),
        ("橋は千八百八十一年に開通し、今日では歩道として使われている。", None),
        ("Too short, this.", "too_short"),
        ("Five words stand here now.", "too_short"),
        ("Six words now stand right here.", None),
        ("Five words — stand here now.", "too_short"),  # a dash is not a word
        ("橋は千八百八十一年に開通しました。", "too_short"),
        ("橋は千八百八十一年に開通しましたよ。", None),
        ("\ufffdThe \ufffdb\ufffdridge w\ufffdas opened in 1881.", "garbled"),
        ("", "no_letters"),
        ("12 34 56 78 90 12 34.", "no_letters"),
        ("Home News Sport Weather Contact About Us", "no_sentence"),
        ("v. 1.2 of the tool list menu", "no_sentence"),
        ("We use cookies on this website to improve your visit.", "boilerplate"),
        ("© 2010-2014 Grand Bridge Company and contributors. Made in Tavin.", "boilerplate"),
        ("Parts are ©2014 by the Grand Bridge Company of Tavin.", "boilerplate"),
        ("Copyright © 2024 Example. All rights reserved by the company.", "boilerplate"),
    ],
)
def test_reasons(paragraph, reason):
    assert drop_reason(paragraph) == reason


def test_language_by_script():
    russian = "Мост был открыт в тысяча восемьсот году."
    assert drop_reason(russian, "en") == "other_language"
    assert drop_reason(russian, "ru") is None
    assert drop_reason("The bridge was opened in 1881.", "ru") == "other_language"
    assert drop_reason("Le pont a été ouvert à l'été.", "fr") is None


@pytest.mark.parametrize(
    ("unspaced", "is_spaced"), [(0, True), (24, True), (25, False), (35, False), (100, False)]
)
def test_a_quarter_of_characters_without_spaces_is_enough(unspaced, is_spaced):
    assert _is_spaced("橋" * unspaced + "a" * (100 - unspaced)) is is_spaced
    assert _is_spaced("橋" * unspaced + "ж" * (100 - unspaced)) is is_spaced


def test_long_paragraphs_break_at_sentences():
    text = "One two three. Four five. Six seven eight nine ten."
    assert split_long(text, 5) == ["One two three. Four five.", "Six seven eight nine ten."]
    assert split_long("a b c d e", 2) == ["a b", "c d", "e"]


@given(st.text(alphabet="ab .!?\n", max_size=300), st.integers(1, 20))
def test_splitting_keeps_every_word(text, most):
    pieces = split_long(text, most)
    assert " ".join(pieces).split() == text.split()
    assert all(len(p.split()) <= most for p in pieces)


@pytest.mark.parametrize(
    "foreign",
    [
        "Die Brücke wurde im Jahr 1881 eröffnet und trug die Züge, bis die Strecke in den "
        "siebziger Jahren für immer geschlossen wurde.",
        "Le pont a été ouvert en 1881 et les trains de la ligne ont roulé dans la vallée jusqu'à "
        "la fermeture de la gare par les autorités.",
    ],
)
def test_language_by_function_words(foreign):
    assert drop_reason(foreign, "en") == "other_language"
    assert drop_reason(foreign, "ru") == "other_language"
    assert drop_reason(foreign) is None
    english = "The bridge at Die Lahn and La Tour de la Reine was built by Le Corbusier."
    assert drop_reason(english, "en") is None
    assert drop_reason(english, "tl") is None


@pytest.mark.slow
def test_keys_of_boilerplate_cover_its_patterns(real_data):
    with gzip.open(real_data / "extraction-dev.jsonl.gz") as lines:
        pages = [json.loads(line)["html"] for line in lines]
    texts = [text for page in pages for text in re.findall(r">([^<>{}]{9,400})<", page)]
    found = [text for text in texts if _NOTICE.search(text)]
    assert len(found) > 50
    assert all(is_notice(text) for text in found)


FIRST = "The bridge was built of iron and opened to trains in 1881."
LAST = "It was closed when the railway was given up after the war."


def kept(*paragraphs: str) -> list[str]:
    reasons = drop_reasons(paragraphs, "en")
    return [p for p, reason in zip(paragraphs, reasons, strict=True) if reason is None]


def test_a_list_is_kept_with_the_paragraph_that_introduces_it():
    intro = "The parts that were made in the works are these:"
    items = ["Two arches with a span of ninety meters each", "Four towers of stone at the ends"]
    assert kept(FIRST, intro, *items, "Home", LAST) == [FIRST, intro, *items, LAST]
    assert kept("Home", intro, "About") == []
    assert kept(FIRST, LAST, items[0]) == [FIRST, LAST]


def test_steps_of_a_recipe_are_kept():
    steps = ["1. Preheat the oven to 200 degrees", "2. Mix flour and eggs"]
    assert kept(FIRST, *steps, LAST) == [FIRST, *steps, LAST]
    assert kept("Menu", *steps) == []


def test_short_sentences_are_kept_between_kept_paragraphs():
    short = "Trains crossed it."
    assert kept(FIRST, short, LAST) == [FIRST, short, LAST]
    assert kept(FIRST, short, "Home") == [FIRST]
    assert kept(FIRST, "All rights reserved.", LAST) == [FIRST, LAST]


def test_words_are_counted_in_scripts_without_spaces():
    assert word_count("one two three") == 3
    assert word_count("橋は鉄でできている。") == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Los corredores de fondo son menos propensos a la ansiedad.", "other_language"),
        ("No es a la playa que vamos por la tarde.", "other_language"),
        ("Juan de la Cruz y de los Santos was born in Madrid.", None),
        ("Engineers built a bridge near Tavin.", None),
    ],
)
def test_short_lines_of_another_language(text, reason):
    assert drop_reason(text, "en") == reason


def test_long_menus_have_no_function_words():
    menu = "News Sports Arts Maps Shop. " * 10
    assert drop_reason(menu, "en") == "no_prose"
    assert drop_reason(menu, None) is None
    assert drop_reason("The bridge was built of iron by the men of the town. " * 5, "en") is None


@pytest.mark.parametrize("stop", ["。", "！", "।", "۔", "።"])
def test_long_text_of_any_script_is_split_at_its_full_stops(stop):
    sentence = "word " * 9 + f"last{stop}"
    assert split_long(sentence * 2 + "word " * 9, max_words=12) == [
        sentence, sentence, ("word " * 9).strip()
    ]  # fmt: skip


def test_a_sentence_that_shares_small_words_with_english_is_in_another_language():
    line = (
        "L’agricoltura biologica è come l’apertura delle acque del Mar Rosso, come Maometto sulla "
        "sua giumenta o Gesù che ritorna a Pasqua: non serve a niente, ma rende la vita buona."
    )
    assert drop_reason(line, "en") == "other_language"
    assert drop_reason(line, "it") is None
