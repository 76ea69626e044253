import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.sentence_ends import has_sentence, split_sentences, without_broken_sentences


@pytest.mark.parametrize(
    "text",
    [
        "New Orleans Pelicans vs. Phoenix Suns",
        "What's My Line? with Casey Stengel",
        "Office of the U.S. Special Coordinator",
        "Letters to Mr. Josiah Penrose and Dr. Ada Holm",
        "The bridge as seen by J. Penrose in No. 3 of the journal",
        "Acme Bridge and Iron Works Trading Co.",
        "The rules that everyone should know about this...",
        "The rules that everyone should know about this…",
        "Am 3. Mai nach der Ankunft der Gäste",
        "Version 2.5 of the program for all users",
        "Ja. Nein. Doch.",
    ],
)
def test_no_sentence_ends_in_titles_and_names(text):
    assert not has_sentence(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was opened in 1881.",
        "He crossed the river in the U.S.",
        "They sold bread, cheese, wool, etc.",
        "The bridge carried trains. Later it was closed and never opened again",
        "The bridge carried trains.[3] Later it was closed and never opened again",
        'He said "this bridge is mine." Then he left for the city',
        "Who built the bridge over the river?",
        "It was opened in 1881. The bridge stood",
        "The line was closed (in 1961).",
        "Mr. Penrose built the bridge by J. Holm's plan. It stood for years",
        "Der Zug kam um 3 Uhr an. „Endlich“, sagte er",
        "橋は鉄でできている。",
        "यह पुल लोहे का है।",
    ],
)
def test_a_sentence_ends_at_the_end_or_before_a_capital(text):
    assert has_sentence(text)


BASES = "The base was to be built at Noumea, on the French island of New Caledonia."
CLAIM = "The strike began in 1942."


@pytest.mark.parametrize(
    ("paragraph", "whole"),
    [
        (f"{BASES} The soil encountered with the", BASES),
        (f"{BASES} Questions arose, regarding leases,", BASES),
        (f"{BASES} But it was clear that the possession of Guadalcanal...", BASES),
        (f"{BASES} Terms Privacy notice Facebook-f Twitter Youtube Instagram", BASES),
        (f"{BASES} By then, Halsey wrote to O. O. McIntyre and —O. O. Hall", BASES),
        (f"rights of user and access, was given effect by the Act. {BASES}", BASES),
        (f"was given effect by the Act. {BASES} The strategic principle of unified", BASES),
        ("橋は鉄でできている。橋は", "橋は鉄でできている。"),
    ],
)
def test_sentences_broken_by_the_end_of_a_line_are_cut_off(paragraph, whole):
    assert without_broken_sentences(paragraph) == whole


@pytest.mark.parametrize(
    "paragraph",
    [
        BASES,
        f"{BASES} The others were:",
        f"{BASES} It was (nearly) done (in 1942)",
        f"{BASES}12",
        f"“{BASES}” – Ben Kemble, Creative Director",
        f"{BASES} It is shown at pic.twitter.com/3BDnrvkoms",
        "Three of the islands were developed as air and naval bases",
        "the end of a sentence.",
        f"iPhone sales rose in 2019. {BASES}",
        "No. It is",
        "",
    ],
)
def test_whole_paragraphs_stay(paragraph):
    assert without_broken_sentences(paragraph) == paragraph


@given(st.lists(st.sampled_from([BASES, CLAIM, "of the", "Inc.", "and", "it?", "...", "(a)"])))
def test_cutting_leaves_a_part_and_cuts_only_once(parts):
    paragraph = " ".join(parts)
    whole = without_broken_sentences(paragraph)
    assert whole in paragraph
    assert without_broken_sentences(whole) == whole or whole[:1].islower()
    assert has_sentence(whole) == has_sentence(paragraph)


def test_sentences_are_split_behind_their_stops():
    text = f'He said "It is mine." {BASES} The bridge was built by J. Holm'
    assert split_sentences(text) == [
        'He said "It is mine."',
        BASES,
        "The bridge was built by J. Holm",
    ]
    assert split_sentences("") == []
    assert split_sentences("橋は鉄。橋は") == ["橋は鉄。", "橋は"]


@given(st.text(alphabet='aB .!?"”。', max_size=60))
def test_no_character_of_a_sentence_is_lost(text):
    joined = "".join(split_sentences(text))
    assert joined.replace(" ", "") == text.replace(" ", "")
