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


def test_menus_stay_lines():
    menu = ["Home", "News", "Sports", "Contact the editors of the paper"]
    assert join_wrapped_lines("\n".join(menu)) == menu


@given(st.text("aB. ,\n", max_size=120))
def test_no_word_is_lost(text):
    assert " ".join(join_wrapped_lines(text)).split() == text.split()
