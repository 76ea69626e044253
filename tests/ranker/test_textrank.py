import math

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker import textrank
from wikisum.ranker.textrank import overlaps, textrank_scores

PARAGRAPHS = st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=7)


def test_overlap_matches_hand_calculation():
    weights = overlaps([["a", "b", "a"], ["a", "b"], ["c"], ["c"], []])
    shared = 2 / (math.log(3) + math.log(2))
    assert weights[0].tolist() == pytest.approx([0, shared, 0, 0, 0])
    assert weights[2].tolist() == [0] * 5  # one term each: the paper divides by log 1 + log 1


@pytest.mark.slow
@given(PARAGRAPHS)
def test_equals_networkx(paragraphs):
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(paragraphs)))
    for i, one in enumerate(paragraphs):
        for j, other in enumerate(paragraphs[:i]):
            logs = math.log(max(len(one), 1)) + math.log(max(len(other), 1))
            if logs and (shared := len(set(one) & set(other))):
                graph.add_edge(i, j, weight=shared / logs)
    expected = networkx.pagerank(graph, tol=1e-12, max_iter=1000) if paragraphs else {}
    scores = textrank_scores(paragraphs)
    assert scores == pytest.approx([expected[i] for i in range(len(paragraphs))], abs=1e-9)


def test_paragraphs_past_the_bound_score_nothing(monkeypatch):
    monkeypatch.setattr(textrank, "MAX_NODES", 2)
    assert textrank_scores([["a", "b"], ["a", "c"], ["a", "b"]]) == [0.5, 0.5, 0.0]
