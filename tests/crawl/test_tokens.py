import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.tokens import terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("— … !", []),
        ("The Cat's 2nd_life.", ["the", "cat", "s", "2nd", "life"]),
        ("ﬁve ＡＢＣ ½", ["five", "abc", "1", "2"]),  # NFKC
        ("Straße ÉTÉ", ["straße", "été"]),
        ("Мост 橋は", ["мост", "橋は"]),
    ],
)
def test_terms_are_runs_of_letters_and_digits(text, expected):
    assert terms(text) == expected


@given(st.text())
def test_terms_of_terms_are_the_same(text):
    words = terms(text)
    assert terms(" ".join(words)) == words or not unicodedata.is_normalized("NFKC", text.lower())
    assert all(word and "_" not in word and " " not in word for word in words)
