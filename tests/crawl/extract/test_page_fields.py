import pytest

from tests.builders import LEAD
from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.page_fields import read_fields


def test_title_headings_and_text_are_told_apart():
    html = (
        "<title>Tavin Bridge | Visit</title><nav><h3>Menu</h3><a href=/>Home</a></nav>"
        f"<h1>The bridge</h1><p>{LEAD}</p><h2>Its color</h2><p>{LEAD} It is green.</p>"
    )
    page = read_fields(html.encode(), "utf-8", "html")
    assert page.title == "Tavin Bridge | Visit"
    assert {"The bridge", "Its color"} <= set(page.headings)
    assert page.text == [LEAD, f"{LEAD} It is green."]
    assert page.language == "en"


def test_the_first_line_of_text_is_its_title_if_it_is_short():
    page = read_fields(b"A title\n\nLine  one\nLine two\n", None, "text")
    assert (page.title, page.headings, page.text) == ("A title", [], ["Line one", "Line two"])
    assert read_fields(b"one line alone", None, "text").title == ""
    long = read_fields(b"word " * 60 + b"\nrest", None, "text")
    assert (long.title, len(long.text)) == ("", 2)


def test_a_page_without_text_is_reported():
    with pytest.raises(BadPage, match="no text"):
        read_fields(b"<title>x</title><h1>y</h1>", None, "html")
