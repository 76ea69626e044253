import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.original.t2t import t2t_drop_reason, t2t_text


def test_text():
    assert t2t_text(" The B-47's  span\n(in m) is 142.5; _so_ «what» ") == (
        "the b - 47 ' s span ( in m ) is 142 . 5 ; _ so _ «what»"
    )


@given(st.text())
def test_text_is_as_it_should_be_the_second_time_too(text):
    once = t2t_text(text)
    assert t2t_text(once) == t2t_text(once.upper()) or not text.isascii()
    assert not text.isascii() or t2t_text(once) == once


@pytest.mark.parametrize(
    ("paragraph", "reason"),
    [
        ("The bridge was opened late.", None),
        ("The bridge , late , is .", None),  # three words among six tokens
        ("Was the bridge opened so late?", "no_sentence"),
        ("Мост был открыт очень поздно вчера.", "no_letters"),
        ("Late.", "too_short"),
        ("one two three four five", "too_short"),
        ("a b . c d . e f .", "no_sentence"),
        # the first sentence must have four tokens, a later one three
        ("The bridge opened. 1 2 3 4.", "no_sentence"),
        ("1 2 3 4. The bridge opened.", None),
        ("It’s été déjà vu là.", "no_sentence"),  # words with other letters do not count
        ("In 1881 the x2 span y3 was z4 long.", None),
    ],
)
def test_the_filter(paragraph, reason):
    assert t2t_drop_reason(paragraph) == reason
