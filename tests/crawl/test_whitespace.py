from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.whitespace import normalize_whitespace, printable


def test_white_space_is_one_space():
    assert normalize_whitespace(" a\t b\u00a0c\n\u2028d ") == "a b c d"


@given(st.text(alphabet="a "))
def test_white_space_is_normalized_as_by_split_and_join(text):
    assert normalize_whitespace(text) == " ".join(text.split())


def test_what_cannot_be_seen_goes():
    assert normalize_whitespace("ex\u00adam\u200bple\ufeff \x01 \x9f x\ud800") == "example x"
    assert normalize_whitespace("می\u200cخواهم") == "می\u200cخواهم"


@given(st.text())
def test_folding_twice_changes_nothing(text):
    folded = normalize_whitespace(text)
    assert normalize_whitespace(folded) == folded
    assert folded == " ".join(folded.split())
    folded.encode("utf-8")


def test_text_for_a_terminal_has_no_control_characters():
    assert printable("two\nlines") == "two\nlines"
    assert printable("a\x1b[31mred\x07\r \x9b2J\ud800b\u202ec") == "a[31mred 2Jbc"
    assert printable("\u0646\u200c\u0645") == "\u0646\u200c\u0645"
