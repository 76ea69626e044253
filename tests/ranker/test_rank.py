import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.ranker.rank import METHODS, METHODS_WITH_LEAD, method_scores, rank

PARAGRAPHS = [
    "the river runs to the sea",
    "a castle on the hill above the river",
    "the castle of old kings and the castle of queens",
    "fish and chips by the sea",
]
TEXTS = st.lists(st.sampled_from(["", "!", "the", "cat", "dog", "the cat sat", "a dog sat"]))


@pytest.mark.parametrize(
    ("method", "order"),
    [
        ("identity", [0, 1, 2, 3]),
        ("tfidf", [2, 1, 0, 3]),
        ("tfidf_cosine", [2, 1, 0, 3]),
        ("cheating", [2, 1, 0, 3]),
        ("oracle", [2, 1, 0, 3]),
    ],
)
def test_order(method, order):
    assert rank(method, "Castle", PARAGRAPHS, lead="The castle of queens on the hill.") == order


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(texts=TEXTS, title=st.sampled_from(["", "The cat", "?"]))
@settings(max_examples=30)
def test_every_method_gives_a_permutation(method, texts, title):
    order = rank(method, title, texts, lead=title)
    assert sorted(order) == list(range(len(texts)))
    assert order == rank(method, title, texts, lead=title)
    scores = method_scores(method, title, texts, lead=title)
    assert order == sorted(range(len(texts)), key=lambda i: (-scores[i], i))
    assert all(type(score) is float for score in scores)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"random"}))
@pytest.mark.parametrize("text", ["", "...", "the cat sat on the mat"])
def test_equal_paragraphs_keep_their_order(method, text):
    assert rank(method, "the cat", [text] * 9, lead="the cat sat") == list(range(9))


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"random", "identity", "sumbasic"}))
def test_copies_of_a_paragraph_stay_in_order(method):
    texts = PARAGRAPHS * 7  # equal but for the order in which numbers are added up
    order = rank(method, "castle", texts, lead="the castle of old kings")
    for kind in range(4):
        copies = [i for i in order if i % 4 == kind]
        assert copies == sorted(copies)


def test_seed_changes_the_random_order_alone():
    texts = [str(number) for number in range(30)]
    assert rank("random", "t", texts) != rank("random", "t", texts, seed=1)
    assert rank("random", "t", texts) != rank("random", "u", texts)
    assert rank("tfidf", "7", texts) == rank("tfidf", "7", texts, seed=1)


def test_wrong_calls_name_what_is_wrong():
    with pytest.raises(ValueError, match="'tfifd'"):
        rank("tfifd", "", [])
    for method in METHODS_WITH_LEAD:
        with pytest.raises(ValueError, match=f"{method}.*lead"):
            rank(method, "", [])


@pytest.mark.slow
def test_order_does_not_depend_on_the_hash_seed():
    """This process has a random seed, or 0."""
    code = (
        "from wikisum.ranker.rank import METHODS, rank\n"
        "texts = [f'a{i % 3} b{i % 5} c{i % 7} d{i}' for i in range(60)]\n"
        "print([rank(m, 'a1 b2 c3', texts, lead='a1 b2 c3 d4') for m in METHODS])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    texts = [f"a{i % 3} b{i % 5} c{i % 7} d{i}" for i in range(60)]
    here = [rank(m, "a1 b2 c3", texts, lead="a1 b2 c3 d4") for m in METHODS]
    assert found.stdout.strip() == str(here)


@pytest.mark.slow
def test_real_articles(real_pools):
    """The bounds hold: looking at the lead beats the title, the title beats chance."""
    recall = dict.fromkeys(METHODS, 0.0)
    for pool in real_pools:
        for method in METHODS:
            best = rank(method, pool.title, pool.paragraphs, lead=pool.lead)[:3]
            labels = method_scores("oracle", pool.title, pool.paragraphs, lead=pool.lead)
            recall[method] += sum(labels[i] for i in best)
    assert recall["oracle"] >= recall["cheating"] * 0.98
    assert recall["cheating"] > recall["tfidf"] > recall["random"]
