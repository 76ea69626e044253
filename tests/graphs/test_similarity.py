import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from wikisum.crawl.tokens import terms
from wikisum.graphs.similarity import similarity_graph

TEXTS = st.lists(
    st.lists(st.sampled_from(["cat", "Cat", "dog,", "the", "Éire", "", "7"]), max_size=8).map(
        " ".join
    ),
    max_size=8,
)


def literal_graph(paragraphs, threshold):
    """Equation 25 as written: a loop over pairs."""
    bags = [terms(p) for p in paragraphs]
    holders = Counter(w for bag in bags for w in set(bag))
    vectors = [
        {w: bag.count(w) * math.log(len(bags) / holders[w]) for w in set(bag)} for bag in bags
    ]
    edges = []
    for i, one in enumerate(vectors):
        for j, other in list(enumerate(vectors))[i + 1 :]:
            dot = sum(one[w] * other[w] for w in one.keys() & other.keys())
            cosine = dot / math.hypot(*one.values()) / math.hypot(*other.values()) if dot else 0
            if cosine and round(cosine, 6) >= threshold:
                edges.append((i, j, cosine))
    return edges


def assert_equal_edges(edges, expected):
    assert list(zip(edges.source, edges.target, strict=True)) == [edge[:2] for edge in expected]
    assert edges.weight == pytest.approx([edge[2] for edge in expected], abs=6e-7)


def test_matches_hand_calculation():
    # idf: cat ln 3/2, sat ln 3/2, dog ln 3, ran ln 3
    a, b = math.log(1.5), math.log(3)
    cosine = a * a / (a * math.sqrt(2)) / math.hypot(a, b)
    edges = similarity_graph(["The cat sat", "the CAT: dog", "the sat ran"])
    assert edges.source == [0, 0]
    assert edges.target == [1, 2]
    assert edges.weight == pytest.approx([cosine] * 2, abs=1e-6)
    assert similarity_graph(["The cat sat", "the CAT: dog", "the sat ran"], 0.3) == ([], [], [])


def test_weight_at_the_threshold_stays():
    texts = ["a b", "a c", "d"]
    weight = similarity_graph(texts, 0.1).weight[0]
    assert similarity_graph(texts, weight).weight == [weight]
    assert similarity_graph(texts, weight + 1e-6).weight == []


@pytest.mark.parametrize("texts", [[], ["one"], ["", "?"], ["same words"] * 3, ["a b", "c d"]])
def test_nothing_is_like_nothing(texts):
    assert similarity_graph(texts) == ([], [], [])


@pytest.mark.slow
@given(TEXTS, st.sampled_from([0.2, 0.5]))
def test_equals_the_formula(paragraphs, threshold):
    assert_equal_edges(
        similarity_graph(paragraphs, threshold), literal_graph(paragraphs, threshold)
    )


@pytest.mark.slow
def test_equals_the_formula_on_real_pages(real_data):
    texts = []
    with open(real_data / "wikigen-dev.warc.wet.gz", "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "conversion":
                text = record.content_stream().read().decode()
                texts += [line for line in text.split("\n") if len(line) > 200][:20]
            if len(texts) > 100:
                break
    expected = literal_graph(texts, 0.1)
    assert len(expected) > 20
    assert_equal_edges(similarity_graph(texts, 0.1), expected)
