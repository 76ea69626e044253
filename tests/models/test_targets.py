import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.targets import (
    Heading,
    SectionIds,
    article_ids,
    heading_ids,
    parse_headings,
    split_article,
)

T, P = 4, 5
TEXT = st.lists(st.integers(6, 20), max_size=5)
ARTICLES = st.tuples(TEXT, st.lists(st.builds(SectionIds, st.integers(2, 6), TEXT, TEXT)))
WORDS = {"History": [7, 8], "Early years": [9], "It began.": [10, 11], "It went on.": [12]}


def encode(texts):
    return [WORDS[text] for text in texts]


def joined(lead, sections):
    return [*lead, *(i for s in sections for i in [*heading_ids(s.title, s.level), *s.text])]


def test_sections_are_marked_by_hand():
    sections = [(Heading("History"), "It began."), (Heading("Early years", 3), "It went on.")]
    expected = [30, 31, P, 7, 8, T, 10, 11, P, P, 9, T, 12]
    assert article_ids([30, 31], sections, encode, 100) == expected
    assert split_article(expected) == (
        [30, 31],
        [SectionIds(2, [7, 8], [10, 11]), SectionIds(3, [9], [12])],
    )


@pytest.mark.parametrize(
    ("most", "length"), [(1, 1), (2, 2), (5, 2), (6, 6), (7, 7), (11, 8), (12, 12), (13, 13)]
)
def test_an_article_is_cut_but_never_inside_a_heading(most, length):
    sections = [(Heading("History"), "It began."), (Heading("Early years", 3), "It went on.")]
    whole = article_ids([30, 31], sections, encode, 100)
    assert article_ids([30, 31], sections, encode, most) == whole[:length]


@pytest.mark.slow
@given(ARTICLES)
def test_what_is_joined_is_split_again(article):
    lead, sections = article
    assert split_article(joined(lead, sections)) == (lead, sections)


@pytest.mark.slow
@given(ARTICLES, st.integers(0, 30))
def test_an_unfinished_heading_is_dropped(article, kept):
    lead, sections = article
    found_lead, found = split_article(joined(lead, sections)[:kept])
    assert found_lead == lead[:kept]
    whole = joined(found_lead, found)
    assert joined(lead, sections)[: len(whole)] == whole
    assert T not in joined(lead, sections)[len(whole) : kept]


@given(st.lists(st.integers(3, 8), max_size=12))
def test_any_subwords_can_be_split(ids):
    lead, sections = split_article(ids)
    assert P not in lead
    assert all(P not in s.text and T not in s.title for s in sections)


def test_levels_outside_of_wiki_markup_are_brought_inside():
    assert heading_ids([7], 1) == [P, 7, T]
    assert heading_ids([7], 9) == [*[P] * 5, 7, T]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("History", [Heading("History")]),
        (" History ;; Early years; ", [Heading("History"), Heading("Early years")]),
        ("== A ==; === B ===", [Heading("A"), Heading("B", 3)]),
        ("====C", [Heading("C", 4)]),
        ("a = b", [Heading("a = b")]),
    ],
)
def test_headings_are_parsed(text, expected):
    assert parse_headings(text) == expected


def test_lines_of_a_file_may_hold_semicolons():
    assert parse_headings("A; B\n\nC\n", "\n") == [Heading("A; B"), Heading("C")]


@pytest.mark.parametrize("text", ["", " ; ", "== =="])
def test_no_heading_is_an_error(text):
    with pytest.raises(ValueError, match="no heading in"):
        parse_headings(text)
