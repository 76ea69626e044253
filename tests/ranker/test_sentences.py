from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.sentences import sentences


def test_breaks_at_full_stops_before_capitals():
    text = (
        "He came. She (Dr. A. B. Smith of the U.S. Navy) left! Why?\n"
        "3.5 km, e.g. here, at 5 p. each. “So?” No"
    )
    assert sentences(text) == [
        "He came.",
        "She (Dr. A. B. Smith of the U.S. Navy) left!",
        "Why?",
        "3.5 km, e.g. here, at 5 p. each.",
        "“So?”",
        "No",
    ]


def test_text_without_capitals_breaks_at_each_stop():
    assert sentences("the cat sat . it ran .") == ["the cat sat .", "it ran ."]


def test_lower_case_text_with_spaced_punctuation_breaks_at_lone_stops_only():
    text = "gov. mike pence said \" it is over . \" he left ( at 5 p.m. ) ! ) why ? '' so . . . end"
    assert sentences(text) == [
        'gov. mike pence said " it is over . "',
        "he left ( at 5 p.m. ) ! )",
        "why ? ''",
        "so . . .",
        "end",
    ]
    assert sentences('one . " two . " three\nfour . five') == [
        "one .",
        '" two . "',
        "three",
        "four .",
        "five",
    ]


def test_scripts_without_spaces():
    assert sentences("今日は。元気？はい") == ["今日は。", "元気？", "はい"]


@given(st.text(alphabet="aB.?! \n”。", max_size=40))
def test_nothing_is_lost(text):
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in found)
