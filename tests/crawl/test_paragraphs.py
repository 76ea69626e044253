import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.paragraphs import drop_reason, split_long, t2t_drop_reason


@pytest.mark.parametrize(
    ("paragraph", "reason"),
    [
        ("The bridge was opened in 1881.", None),
        ("Was the bridge opened in 1881?", None),
        ("Мост был открыт в тысяча восемьсот году.", None),
        ("橋は千八百八十一年に開通し、今日では歩道として使われている。", None),
        ("Too short, this.", "too_short"),
        ("\ufffdThe \ufffdb\ufffdridge w\ufffdas opened in 1881.", "garbled"),
        ("", "no_letters"),
        ("12 34 56 78 90 12 34.", "no_letters"),
        ("Home News Sport Weather Contact About Us", "no_sentence"),
        ("v. 1.2 of the tool list menu", "no_sentence"),
        ("We use cookies on this website to improve your visit.", "boilerplate"),
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


def test_literal_filter_of_the_original_dataset():
    assert t2t_drop_reason("The bridge was opened late.") is None
    assert t2t_drop_reason("Was the bridge opened so late?") == "no_sentence"
    assert t2t_drop_reason("Мост был открыт очень поздно вчера.") == "no_letters"
    assert t2t_drop_reason("Late.") == "too_short"


def test_long_paragraphs_break_at_sentences():
    text = "One two three. Four five. Six seven eight nine ten."
    assert split_long(text, 5) == ["One two three. Four five.", "Six seven eight nine ten."]
    assert split_long("a b c d e", 2) == ["a b", "c d", "e"]


@given(st.text(alphabet="ab .!?\n", max_size=300), st.integers(1, 20))
def test_splitting_keeps_every_word(text, most):
    pieces = split_long(text, most)
    assert " ".join(pieces).split() == text.split()
    assert all(len(p.split()) <= most for p in pieces)
