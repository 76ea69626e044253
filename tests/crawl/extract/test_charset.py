import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.charset import to_utf8

RUSSIAN = "Мост был открыт в тысяча восемьсот году и служил поездам до закрытия линии. " * 5
META_1251 = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">'


@pytest.mark.parametrize(
    ("payload", "header", "text"),
    [
        (b"", None, ""),
        ("naïve".encode(), None, "naïve"),
        (codecs.BOM_UTF8 + "naïve".encode(), "latin-1", "naïve"),
        (codecs.BOM_UTF16_BE + "naïve".encode("utf-16-be"), None, "naïve"),
        ("naïve “x”".encode("cp1252"), "iso-8859-1", "naïve “x”"),
        ((META_1251 + RUSSIAN).encode("cp1251"), None, META_1251 + RUSSIAN),
        ("日本語".encode("shift_jis") * 40, None, "日本語" * 40),
        ("日本語".encode("iso2022_jp"), "iso-2022-jp", "日本語"),
        ("日本語".encode("cp932"), '"x-sjis"', "日本語"),
        ("naïve".encode(), "latin-1", "naïve"),
        ("naïve".encode(), "utf-16", "naïve"),
        ("naïve — text".encode("cp1252") * 50, "utf-8", "naïve — text" * 50),
        (b"a\x00b", "no-such-charset", "ab"),
        (b"a", "rot13", "a"),
        ("naïve".encode("utf-16-le"), None, "naïve"),
        ("naïve".encode("utf-16-be"), None, "naïve"),
        ("naïve".encode()[:3], None, "na"),
    ],
)
def test_charsets(payload, header, text):
    assert to_utf8(payload, header).decode() == text


def test_of_two_charsets_the_one_that_fits_is_taken():
    page = META_1251 + RUSSIAN
    assert to_utf8(page.encode("cp1251"), "iso-8859-1").decode() == page


def test_a_few_broken_bytes_do_not_change_the_charset():
    page = to_utf8("naïve ".encode() * 300 + b"\xff end", "utf-8").decode()
    assert page.endswith("naïve \ufffd end")


@pytest.mark.slow
@given(st.binary(), st.none() | st.text(max_size=12))
def test_any_bytes_decode(payload, header):
    assert "\0" not in to_utf8(payload, header).decode()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")))
def test_utf8_round_trips_whatever_is_declared(text):
    if "\x1b$" not in text:
        assert to_utf8(text.encode(), "windows-1251").decode() == text
