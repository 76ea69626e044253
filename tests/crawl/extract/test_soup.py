import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.crawl.extract.soup import soup_text


@pytest.mark.parametrize(
    ("html", "paragraphs"),
    [
        ("<p>One <b>bold</b> word.<p>Two.", ["One bold word.", "Two."]),
        ("a<br>b<div>c</div>d", ["a b", "c", "d"]),
        ("<table><tr><td>a<td>b<tr><td>c</table>", ["a b", "c"]),
        ("<nav>Menu</nav><footer>Foot</footer>", ["Menu", "Foot"]),  # all visible text
        ("<script>x</script><style>y</style><!-- z --><p>w", ["w"]),
        ("<p hidden>a<p aria-hidden=true>b<p style='display: none'>c<p>d", ["d"]),
        ("<body hidden><p>shown by a script", ["shown by a script"]),
        ("just text", ["just text"]),
        ("", []),
    ],
)
def test_paragraphs_are_block_elements(html, paragraphs):
    assert soup_text(html.encode())[1] == paragraphs


def test_the_title_is_not_a_paragraph():
    assert soup_text(b"<title> A\n title</title><p>Text") == ("A title", ["Text"])


def test_deep_nesting_needs_no_recursion():
    assert soup_text(b"<div>" * 5000 + b"deep")[1] == ["deep"]


WORDS = st.lists(st.sampled_from(["one", "two", "<p>", "</p>", "<b>", "</b>", "<li>", "<br>"]))


@pytest.mark.slow
@settings(deadline=None)
@given(WORDS)
def test_no_visible_word_is_lost(pieces):
    html = " ".join(pieces)
    expected = BeautifulSoup(html, "lxml").get_text(" ").split()
    assert " ".join(soup_text(html.encode())[1]).split() == expected
