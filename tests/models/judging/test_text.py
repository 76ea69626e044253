import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.judging.text import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x00b\x1bc\x7fd\x85e", "abcde"),
        ("one\r\ntwo\rthree\tfour\n", "one\ntwo\nthree\tfour\n"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("half \ud800 pair", "half  pair"),
        ("Zürich, 東京, 👩‍🔬", "Zürich, 東京, 👩‍🔬"),
    ],
)
def test_only_what_can_be_shown_is_kept(text, expected):
    assert clean(text) == expected


@given(st.text())
def test_a_clean_text_can_be_sent_and_stays_the_same(text):
    once = clean(text)
    assert clean(once) == once
    assert once.encode().decode() == once
