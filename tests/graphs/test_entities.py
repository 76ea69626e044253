import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs import entities
from wikisum.graphs.entities import normalize_entity, paragraph_entities, words_near_names

TEXTS = [
    "Angela Merkel flew from Berlin to the United Nations in New York on Monday.",
    "The United Nations' envoy met Merkel; Berlin's mayor did not come.",
    "In 2009 about 20 percent paid five dollars.",
    "",
]


@pytest.fixture(autouse=True)
def _forget():
    entities.forget()


def test_finds_names_and_no_numbers():
    found = paragraph_entities(TEXTS)
    assert {"Berlin", "New York", "United Nations"} <= found[0]
    assert "Angela Merkel" in found[0]
    assert {"Berlin", "United Nations"} <= found[1]
    assert found[2:] == [frozenset()] * 2
    assert paragraph_entities([]) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the United\n Nations’", "United Nations"),
        ("The  Hague's", "Hague"),
        (" Theodor ", "Theodor"),
        ("James", "James"),
        ("US", "US"),
        ("the ", "the"),
        ("'s", ""),
    ],
)
def test_normal_form(text, name):
    assert normalize_entity(text) == name


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("a b c d e Rome f g h i j", "b c d e Rome f g h i"),
        ("Rome a b c d e f g h i Paris", "Rome a b c d f g h i Paris"),
        ("Rome a b c d e f g Paris", "Rome a b c d e f g Paris"),
        ("no capitals at all in these words", "no capitals at all in these words"),
        ("", ""),
    ],
)
def test_only_words_near_capitals_are_read(text, near):
    assert words_near_names(text) == near


@given(st.lists(st.sampled_from(["Rome", "a", "iPad", "b."]), max_size=40))
def test_words_near_capitals_by_the_definition(words):
    is_name = [word in ("Rome", "iPad") for word in words]
    near = [w for i, w in enumerate(words) if any(is_name[max(i - 4, 0) : i + 5])]
    assert words_near_names(" ".join(words)) == " ".join(near if any(is_name) else words)


def test_batches_change_nothing():
    texts = [f"{one} {other}" for one in TEXTS for other in TEXTS]
    found = paragraph_entities(texts, batch_size=7)
    entities.forget()
    assert found == [paragraph_entities([text], batch_size=1)[0] for text in texts]


def test_each_text_is_analysed_once(monkeypatch):
    found = paragraph_entities([TEXTS[0], TEXTS[1], TEXTS[0]])
    assert found[0] == found[2]
    monkeypatch.setattr(entities, "recognizer", None)
    assert paragraph_entities([TEXTS[1], TEXTS[0]]) == [found[1], found[0]]


def test_what_is_remembered_is_bounded(monkeypatch):
    paragraph_entities(TEXTS[2:])
    kept = dict(entities._known)
    entities.forget()
    monkeypatch.setattr(entities, "MAX_REMEMBERED", 2)
    expected = paragraph_entities(TEXTS)
    assert list(entities._known) == list(kept)
    assert paragraph_entities(TEXTS) == expected


def test_long_paragraphs_are_read_in_part(monkeypatch):
    monkeypatch.setattr(entities, "MAX_CHARS", len(TEXTS[0]))
    rest = " It rained, and Konrad Adenauer stayed in Bonn."
    short, long, late = paragraph_entities([TEXTS[0], TEXTS[0] + rest, rest * 3])
    assert short == long
    assert late


def test_a_missing_model_says_what_to_install(monkeypatch):
    monkeypatch.setattr(entities, "MODELS", ("no_such_model", "nor_this_one"))
    entities.recognizer.cache_clear()
    with pytest.raises(ImportError, match="pip install no_such_model"):
        paragraph_entities(["Berlin"])
    entities.recognizer.cache_clear()
