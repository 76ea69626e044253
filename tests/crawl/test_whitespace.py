from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.whitespace import fold


def test_white_space_is_one_space():
    assert fold(" a\t b\u00a0c\n\u2028d ") == "a b c d"


def test_what_cannot_be_seen_goes():
    assert fold("ex\u00adam\u200bple\ufeff \x01 \x9f x\ud800") == "example x"
    assert fold("می\u200cخواهم") == "می\u200cخواهم"


@given(st.text())
def test_folding_twice_changes_nothing(text):
    folded = fold(text)
    assert fold(folded) == folded
    assert folded == " ".join(folded.split())
    folded.encode("utf-8")
