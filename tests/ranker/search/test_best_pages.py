from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.search.best_pages import best_hits


class Hit(NamedTuple):
    """A hit; a capture is of one page, a page of one host."""

    query: int
    score: float
    capture: int

    @property
    def page(self) -> int:
        return self.capture // 2

    @property
    def host(self) -> int:
        return self.page // 4


HITS = st.lists(
    st.builds(Hit, st.integers(0, 2), st.integers(0, 4).map(float), st.integers(0, 23)), max_size=60
)


def best(hits: list[Hit], most: int = 4, per_host: int = 2) -> list[Hit]:
    def column(name: str) -> np.ndarray:
        return np.array([getattr(hit, name) for hit in hits], np.int64)

    scores = np.array([hit.score for hit in hits])
    names = ("capture", "page", "host")
    places = best_hits(column("query"), scores, *map(column, names), most, per_host)
    return [hits[place] for place in places]


def greedy_best(hits: list[Hit], most: int = 4, per_host: int = 2) -> list[Hit]:
    """One hit after the other, best first, those that may be kept."""
    kept: list[Hit] = []
    seen: set[tuple[int, int]] = set()
    of_host: Counter[tuple[int, int]] = Counter()
    of_query: Counter[int] = Counter()
    for hit in sorted(hits, key=lambda h: (h.query, -h.score, h.capture)):
        page, host = (hit.query, hit.page), (hit.query, hit.host)
        if page in seen or of_host[host] == per_host or of_query[hit.query] == most:
            continue
        seen.add(page)
        of_host[host] += 1
        of_query[hit.query] += 1
        kept.append(hit)
    return kept


def test_by_hand():
    hits = [
        Hit(7, 1.0, 0), Hit(7, 3.0, 2), Hit(7, 2.0, 4), Hit(7, 2.0, 8), Hit(7, 3.0, 3),
        Hit(7, 0.5, 16), Hit(5, 0.1, 0),
    ]  # fmt: skip
    assert best(hits, most=3) == [Hit(5, 0.1, 0), Hit(7, 3.0, 2), Hit(7, 2.0, 4), Hit(7, 2.0, 8)]
    assert best(hits, most=3, per_host=1)[1:] == [Hit(7, 3.0, 2), Hit(7, 2.0, 8), Hit(7, 0.5, 16)]


@pytest.mark.slow
@given(HITS)
def test_they_are_those_that_one_by_one_would_be_kept(hits):
    assert best(hits) == greedy_best(hits)


@pytest.mark.slow
@given(HITS, st.integers(0, 60))
def test_the_best_of_parts_are_the_best_of_all(hits, cut):
    parts = best(hits[:cut]) + best(hits[cut:])
    assert best(parts) == best(hits) == best(hits[::-1])
