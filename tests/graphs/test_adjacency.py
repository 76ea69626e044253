import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs.adjacency import adjacency, sparse_adjacency
from wikisum.graphs.edges import Edges


def test_rows_are_shares_and_the_lonely_see_themselves():
    matrix = adjacency(Edges([0, 0], [1, 2], [0.2, 0.6]), 4)
    assert matrix.dtype == np.float32
    expected = [[0, 0.25, 0.75, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert matrix == pytest.approx(np.array(expected))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_no_edges(size):
    assert np.array_equal(adjacency(Edges([], [], []), size), np.eye(size, dtype=np.float32))


@pytest.mark.parametrize("edges", [Edges([0], [3], [1.0]), Edges([-1], [1], [1.0])])
def test_edges_out_of_bounds(edges):
    with pytest.raises(ValueError, match="outside 0 to 2"):
        adjacency(edges, 3)


PAIRS = st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda p: p[0] < p[1])
WEIGHTS = st.dictionaries(PAIRS, st.floats(0.2, 5) | st.just(0.0))


@pytest.mark.slow
@given(WEIGHTS)
def test_equals_the_equation(weights):
    pairs = sorted(weights)
    edges = Edges([i for i, _ in pairs], [j for _, j in pairs], [weights[p] for p in pairs])
    graph = np.zeros((8, 8))
    for (i, j), weight in weights.items():
        graph[i, j] = graph[j, i] = weight
    for i in range(8):
        if not graph[i].any():
            graph[i, i] = 1
    matrix = adjacency(edges, 8)
    assert matrix == pytest.approx(graph / graph.sum(axis=1, keepdims=True), rel=1e-6)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(8))
    assert np.array_equal(sparse_adjacency(edges, 8).toarray(), matrix)
