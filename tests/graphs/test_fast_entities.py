import bz2
import re
import xml.etree.ElementTree as ElementTree
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wikisum.graphs import entities, fast_entities
from wikisum.graphs.entities import network, paragraph_entities, recognizer
from wikisum.graphs.fast_entities import load_network

NAMES = ["Angela Merkel", "the United Nations", "New York", "U.S.", "IBM's", "3M", "can't", "GOT"]
MARKS = [
    "\n\n",
    "  ",
    "\t",
    "\u00a0",
    "\u2028",
    "\ufeff",
    "\U0001f600",
    "\u0301",
    "(",
    ",",
    ".",
    "12%",
]
HOSTILE = [
    "",
    " ",
    "\n\n \t",
    "Rome",
    " Rome ",
    "I",
    "\U0001f1e9\U0001f1ea\U0001f600" * 50,
    "\ud800 Rome \udfff",
    "\x00 Rome \x01 Paris",
    "A" * 20_000,
    "A " * 5_000,
    ". " * 5_000 + "Rome",
    "The University of the South of the West of the North of " * 300,
    "\u0130stanbul \u1e9e STRASSE \u0391\u03b8\u03ae\u03bd\u03b1 \u6771\u4eac \u0627\u0644\u0642",
]


@pytest.fixture(autouse=True)
def _forget():
    entities.forget()


def by_spacy(texts):
    """The entities that spaCy finds, with their labels."""
    return [[(e.text, e.label_) for e in document.ents] for document in recognizer().pipe(texts)]


def by_network(texts):
    """The entities that the network finds, with their labels."""
    return list(network().entities(texts))


def lines_of_sample():
    """The distinct lines of the articles of the sample, as markup."""
    root = ElementTree.fromstring(bz2.decompress((GOLDEN / "sample.xml.bz2").read_bytes()))
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("}text")]
    return list(dict.fromkeys(line for text in texts for line in text.splitlines()))


def test_real_text_as_by_spacy():
    lines = lines_of_sample()
    expected = by_spacy(lines)
    assert sum(map(len, expected)) > 100
    assert by_network(lines) == expected


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:12]))
def test_hostile_text_as_by_spacy(text):
    well_formed = text.encode("utf-8", "replace").decode()
    assert by_network([well_formed]) == by_spacy([well_formed])


@settings(max_examples=40)
@given(
    st.lists(
        st.lists(st.sampled_from(NAMES + MARKS) | st.text(max_size=5), max_size=30), max_size=5
    )
)
def test_any_text_as_by_spacy(parts):
    texts = [" ".join(part).encode("utf-8", "replace").decode() for part in parts]
    assert by_network(texts) == by_spacy(texts)


def test_texts_of_a_batch_do_not_change_each_other(monkeypatch):
    texts = [*lines_of_sample()[:40], *HOSTILE[:6]]
    together = by_network(texts)
    assert together == [by_network([text])[0] for text in texts]
    assert by_network(texts[::-1]) == together[::-1]
    monkeypatch.setattr(fast_entities, "MAX_TOKENS", 30)
    assert by_network(texts) == together


def test_both_ways_give_the_same_names_of_paragraphs():
    lines = lines_of_sample()
    expected = paragraph_entities(lines, "spacy")
    assert paragraph_entities(lines, "fast") == expected
    assert any(expected)


def changed(name, value):
    """The model, with another value in the configuration of its recognizer."""

    class Model:
        config = deepcopy(recognizer().config)
        meta = recognizer().meta
        get_pipe = recognizer().get_pipe

    *parents, last = name.split(".")
    section = Model.config["components"]["ner"]["model"]
    for parent in parents:
        section = section[parent]
    section[last] = value
    return Model


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("@architectures", "spacy.TransitionBasedParser.v3"),
        ("use_upper", False),
        ("tok2vec", {"@architectures": "spacy.Tok2VecListener.v1"}),
        ("tok2vec.embed.include_static_vectors", True),
        ("tok2vec.encode.window_size", 2),
    ],
)
def test_another_structure_is_refused(name, value):
    reason = re.escape(f"{name} is {value!r}, not") if "." not in name and name != "tok2vec" else ""
    with pytest.raises(ValueError, match=f"cannot evaluate en_core_web_sm.* 3.*{reason}.*spacy$"):
        load_network(changed(name, value))


def test_a_model_that_computes_something_else_is_refused(monkeypatch):
    monkeypatch.setattr(fast_entities, "_by_piece", lambda weights: -by_piece(weights))
    with pytest.raises(ValueError, match="other entities than spaCy"):
        load_network(recognizer())


by_piece = fast_entities._by_piece
