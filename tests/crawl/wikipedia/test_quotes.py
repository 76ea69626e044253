import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.quotes import remove_quote_marks


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("no marks, it's so", "no marks, it's so"),
        ("''Titanic'''s", "Titanic's"),
        ("'''Foo''' and ''bar''", "Foo and bar"),
        ("'''''both''''' and '''''a''' b''", "both and a b"),
        ("''''four'''", "'four"),
        ("''''''six'''''", "'six"),
        ("L'''amour'' est", "L'amour est"),
        ("dans l'''amour'' et '''gras''' fin", "dans l'amour et gras fin"),
        ("a '''b c ''d", "a 'b c d"),
        ("unclosed ''italics", "unclosed italics"),
    ],
)
def test_runs_of_apostrophes(line, plain):
    assert remove_quote_marks(line) == plain


@given(st.text("'ab ", max_size=80))
def test_only_apostrophes_are_removed(line):
    plain = remove_quote_marks(line)
    assert plain.replace("'", "") == line.replace("'", "")
    assert plain.count("'") <= line.count("'")
