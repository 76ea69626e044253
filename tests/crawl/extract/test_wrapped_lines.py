from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.wrapped_lines import join_wrapped_lines


def test_a_line_in_lower_case_continues_an_open_one():
    text = "The eardrum may be rebuilt by surgery of the\nopening into the ear.\nHome\nabout us"
    assert join_wrapped_lines(text) == [
        "The eardrum may be rebuilt by surgery of the opening into the ear.",
        "Home",
        "about us",
    ]


def test_finished_sentences_and_blank_lines_end_a_paragraph():
    first = "The bridge was opened to trains in 1881."
    assert join_wrapped_lines(f"{first}\nit carried them for years.") == [
        first,
        "it carried them for years.",
    ]
    assert join_wrapped_lines("The bridge over the river Tavin was\n\nbuilt of iron.") == [
        "The bridge over the river Tavin was",
        "built of iron.",
    ]


def test_text_of_a_fixed_width_is_one_paragraph_per_block():
    block = [
        "The bridge over the river Tavin was built of iron.",
        "Trains crossed it from 1881 on, and in 1961 it was",
        "Closed.",
    ]
    assert join_wrapped_lines("\n".join([*block, "", *block])) == [" ".join(block)] * 2


def test_a_joined_paragraph_goes_on_with_a_capital_behind_a_full_line():
    lines = [
        "The bridge over the river Tavin was built of iron",
        "by the company that had bridged the river in two",
        "villages and had built the one at Havannah",
        "Harbor. Trains crossed it from 1881 on, and until",
        "1960 they carried coal.",
        "Contact",
    ]
    assert join_wrapped_lines("\n".join(lines)) == [" ".join(lines[:5]), "Contact"]
    headlines = ["The bridge over the river Tavin that", "was built of iron and opened", "Home"]
    assert join_wrapped_lines("\n".join(headlines)) == [" ".join(headlines[:2]), "Home"]


def test_a_line_that_ends_in_an_article_goes_on():
    lines = [
        "In 1881 trains crossed the bridge over the",
        "Tavin.",
        "Bridges of the river Tavin",
        "Home",
    ]
    assert join_wrapped_lines("\n".join(lines)) == [" ".join(lines[:2]), *lines[2:]]


def test_tags_that_the_source_shows_are_removed():
    text = "<p>The <em>iron</em> bridge &amp; its river.</p>\nThe tag <p> begins a paragraph."
    assert join_wrapped_lines(text) == [
        "The iron bridge & its river.",
        "The tag <p> begins a paragraph.",
    ]


def test_menus_stay_lines():
    menu = ["Home", "News", "Sports", "Contact the editors of the paper"]
    assert join_wrapped_lines("\n".join(menu)) == menu


@given(st.text("aB. ,\n", max_size=120))
def test_no_word_is_lost(text):
    assert " ".join(join_wrapped_lines(text)).split() == text.split()


def test_a_sentence_goes_on_behind_the_number_of_a_page():
    first = "Four torpedo boats built in England (the first two"
    assert join_wrapped_lines(f"{first}\npage 4\narrived in 1887) were allocated.") == [
        f"{first} arrived in 1887) were allocated."
    ]
    lines = ["Three bases were built, and as much planning as could be", "--191--"]
    caption = "Espiritu Santo Island, New Hebrides"
    assert join_wrapped_lines("\n".join([*lines, "", caption])) == [lines[0], caption]


def test_numbers_of_pages_are_no_text():
    numbers = ["--218--", "- 12 -", "page 12", "Page 7", "[Pg 3]", "p. 12"]
    assert join_wrapped_lines("\n".join(numbers)) == []
    assert join_wrapped_lines("page twelve") == ["page twelve"]
