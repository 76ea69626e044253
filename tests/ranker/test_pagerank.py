import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.pagerank import pagerank


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 8))
    weights = draw(st.lists(st.sampled_from([0, 0, 0.5, 1, 3]), min_size=size**2, max_size=size**2))
    upper = np.triu(np.array(weights, dtype=float).reshape(size, size))
    return upper + np.triu(upper, 1).T


def test_star():
    # the hub h = 0.05 + 0.85 * 2 l, a leaf l = 0.05 + 0.85 * h / 2
    star = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0.0]])
    hub = (0.05 + 1.7 * 0.05) / (1 - 0.85**2)
    leaf = (1 - hub) / 2
    assert pagerank(star.__matmul__, 3) == pytest.approx([hub, leaf, leaf])


def test_no_nodes_and_no_edges():
    assert pagerank(np.zeros((0, 0)).__matmul__, 0) == []
    assert pagerank(np.zeros((4, 4)).__matmul__, 4) == [0.25] * 4


def test_nodes_equal_but_for_rounding_errors_tie():
    ring = np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), -1, axis=1)
    noise = np.arange(9) * np.spacing(1.0)
    found = pagerank((ring * (1 + noise + noise[:, None])).__matmul__, 9)
    assert found == [found[0]] * 9


@pytest.mark.slow
@given(graphs(), st.sampled_from([0.5, 0.85]))
def test_equals_networkx(weights, damping):
    expected = networkx.pagerank(
        networkx.from_numpy_array(weights), alpha=damping, tol=1e-12, max_iter=1000
    )
    found = pagerank(weights.__matmul__, len(weights), damping)
    assert found == pytest.approx([expected[i] for i in range(len(weights))], abs=1e-9)
    assert sum(found) == pytest.approx(1)
