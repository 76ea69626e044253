import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.vocabulary.words import Words, join_words, most_frequent, split_words
from wikisum.ranker.data.vocab import END_OF_PARAGRAPH, END_OF_TITLE, PIECES, UNKNOWN

WORDS = Words([*PIECES, "the", "mill", ".", "was", "built"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Mill was built.", ["the", "mill", "was", "built", "."]),
        ("It's 3.5 well-known U.S. 'mills'!", [
            "it's", "3.5", "well-known", "u.s", ".", "'", "mills", "'", "!",
        ]),
        ("a_b (c) — “d”", ["a_b", "(", "c", ")", "—", "“", "d", "”"]),
        ("École №5", ["école", "№", "5"]),
        ("", []),
    ],
)  # fmt: skip
def test_words_and_marks(text, words):
    assert split_words(text) == words


@given(st.text())
def test_splitting_loses_only_spaces_and_case(text):
    joined = "".join(split_words(text))
    assert joined == "".join(c for c in text.lower() if not c.isspace())


def test_closing_marks_stand_beside_their_word():
    words = ["the", "mill", "(", "1831", ")", ",", "“", "old", "”", "."]
    assert join_words(words) == "the mill (1831), “old”."


def test_words_that_the_vocabulary_lacks_are_numbered_by_first_occurrence():
    title, paragraphs, lead = WORDS.encode_example(
        "Tavin Mill", ["The Orrel mill.", "Tavin built Sarn."], "The Sarn and Tavin mill."
    )
    assert WORDS.size == 11
    assert title.tolist() == [11, 7]
    assert [ids.tolist() for ids in paragraphs] == [[6, 12, 7, 8], [11, 10, 13, 8]]
    # "and" is not in the source
    assert lead.tolist() == [6, 13, UNKNOWN, 11, 7, 8]


def test_paragraphs_beyond_the_limit_get_no_ids():
    texts = ["one two three", "four five", "six"]
    _, paragraphs, lead = WORDS.encode_example("A", texts, "two six", max_tokens=4)
    assert [len(ids) for ids in paragraphs] == [3, 2]
    assert lead.tolist() == [13, UNKNOWN]  # a is 11, one is 12


def test_ids_turn_back_into_words():
    source = "Tavin", ["The Orrel mill."]
    assert WORDS.decode([6, 12, 7, 9, 11, 8], *source) == "the orrel mill was tavin."
    assert WORDS.decode([2, 6, 5, 7], *source) == "the mill"
    with pytest.raises(KeyError):
        WORDS.decode([13], *source)


@given(st.lists(st.sampled_from(["the", "mill", "sarn", "tavin", "x", "y"]), max_size=30))
def test_any_text_of_the_source_survives(words):
    ids, _ = WORDS.encode(" ".join(words), [])
    assert WORDS.decode(ids.tolist(), " ".join(words), []) == " ".join(words)


def test_the_most_frequent_words_come_first_and_ties_in_alphabetic_order():
    found = most_frequent(iter(["b a b.", "c a", "d"]), 10)
    assert found == [*PIECES, "a", "b", ".", "c"]
    assert most_frequent(iter([]), 5) == [*PIECES]


def test_marks_end_sentences():
    assert WORDS.sentence_ends == {8, END_OF_TITLE, END_OF_PARAGRAPH}
    assert WORDS.ids([",", "mill"]) == {7}
