import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs.edges import Edges, permute, sorted_edges

SIZE = 6
EDGES = st.dictionaries(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)).filter(lambda p: p[0] < p[1]),
    st.sampled_from([0.2, 0.35, 1.4]),
).map(
    lambda d: Edges([p[0] for p in sorted(d)], [p[1] for p in sorted(d)], [*map(d.get, sorted(d))])
)
ORDERS = st.permutations(range(SIZE)).flatmap(lambda o: st.integers(0, SIZE).map(lambda n: o[:n]))


def test_edges_are_sorted_upward_and_rounded():
    edges = sorted_edges(np.array([3, 0, 1]), np.array([1, 2, 0]), np.array([0.5, 1 / 3, 1.0]))
    assert edges == Edges([0, 0, 1], [1, 2, 3], [1.0, 0.333333, 0.5])
    none = np.empty(0, dtype=np.int64)
    assert sorted_edges(none, none, np.empty(0)) == Edges([], [], [])


def test_edges_follow_their_paragraphs():
    edges = Edges([0, 0, 1], [1, 2, 2], [0.2, 0.3, 0.4])
    assert permute(edges, [2, 0, 1]) == Edges([0, 0, 1], [1, 2, 2], [0.3, 0.4, 0.2])
    assert permute(edges, [2, 1]) == Edges([0], [1], [0.4])
    assert permute(edges, [5, 0, 2]) == Edges([1], [2], [0.3])  # 5 has no edges
    assert permute(edges, []) == permute(Edges([], [], []), [1, 0]) == Edges([], [], [])


@pytest.mark.slow
@given(EDGES, ORDERS)
def test_permuted_edges_are_those_of_the_kept_pairs(edges, order):
    weight = {frozenset(pair): w for *pair, w in zip(*edges, strict=True)}
    expected = [
        (i, j, weight[frozenset((order[i], order[j]))])
        for i in range(len(order))
        for j in range(i + 1, len(order))
        if frozenset((order[i], order[j])) in weight
    ]
    assert list(zip(*permute(edges, order), strict=True)) == expected


def test_an_order_names_each_once():
    with pytest.raises(ValueError, match="twice"):
        permute(Edges([], [], []), [1, 1])
