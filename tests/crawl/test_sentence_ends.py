import pytest

from wikisum.crawl.sentence_ends import has_sentence


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
