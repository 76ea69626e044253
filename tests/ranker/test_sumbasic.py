from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.sumbasic import sumbasic_order, sumbasic_sentences

UNITS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=8)


def literal_order(units):
    """The method as the paper tells it, step by step."""
    counts = Counter(w for unit in units for w in unit)
    total = sum(counts.values())
    probability = {w: Fraction(n, total) for w, n in counts.items()}
    left = [i for i, unit in enumerate(units) if unit]
    order = []
    while left:
        mean = {i: sum(probability[w] for w in units[i]) / len(units[i]) for i in left}
        enough = max(mean.values()) * (1 - Fraction(1, 10**12))
        best = next(i for i in left if mean[i] >= enough)
        order.append(best)
        left.remove(best)
        for w in set(units[best]):
            probability[w] **= 2
    return order + [i for i, unit in enumerate(units) if not unit]


def test_a_word_counts_less_once_used():
    # p: a 4/8, b 3/8, c 1/8. [a, a] first, then a has 1/4: [b] 3/8 before [a, b] 5/16; then b has
    # 9/64: [a, b] 25/128 before [c] 1/8
    units = [["a", "b"], ["c"], ["a", "a"], ["b"], ["a", "b"]]
    assert sumbasic_order(units) == [2, 3, 0, 1, 4]


def test_best_word_restricts_the_choice():
    # a is in four, b in three: [b] has the best mean, but [a, c] holds the best word
    units = [["a", "c"], ["a", "d"], ["a", "e"], ["a", "f"], ["b"], ["b", "g"], ["b", "h"]]
    assert sumbasic_order(units)[0] == 4
    assert sumbasic_order(units, with_best_word=True)[0] == 0


@given(UNITS)
def test_order_is_that_of_the_literal_method(units):
    assert sumbasic_order(units) == literal_order(units)


@given(UNITS, st.booleans())
def test_order_is_a_permutation(units, with_best_word):
    assert sorted(sumbasic_order(units, with_best_word)) == list(range(len(units)))


def test_sentences_until_the_target():
    paragraphs = ["The cat sat. The cat ran off. A dog.", "The cat sat. Birds fly."]
    picked = sumbasic_sentences(paragraphs, 5)
    assert picked == ["The cat sat.", "A dog."]
    assert sumbasic_sentences(paragraphs, 0) == sumbasic_sentences([], 9) == []
