import pytest

from wikisum.crawl.extract.trafilatura import trafilatura_text

pytest.importorskip("trafilatura")
SENTENCE = "The bridge carries trains over the river and was opened by the mayor in that year. "
PAGE = (
    "<html><head><title> Tavin \n Bridge </title></head><body><nav><a href='/'>Home</a></nav>"
    f"<article><p>{SENTENCE * 3}</p><p>It  is\u00a0gr\u00fcn.{SENTENCE * 3}</p></article></body>"
)


def test_title_and_paragraphs_of_the_main_text():
    title, lines = trafilatura_text(PAGE.encode())
    assert title == "Tavin Bridge"
    assert lines == [(SENTENCE * 3).strip(), ("It is gr\u00fcn." + SENTENCE * 3).strip()]


def test_a_page_without_title_or_text_is_empty():
    assert trafilatura_text(b"<html><body></body></html>") == ("", [])
