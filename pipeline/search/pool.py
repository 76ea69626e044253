"""The best hits of each query so far, in arrays, since a page may answer hundreds of queries."""

import numpy as np
import pyarrow as pa

from wikisum.pipeline.search.merge import HITS, best_of
from wikisum.pipeline.search.settings import SearchSettings

MAX_HITS = 1 << 20  # held at once, some 100 MB when they are sorted
MAX_PAGES = 1 << 16


class Pool:
    """Collects hits and discards those that cannot be among the best.

    `numbers` has the number of each query by its position in the index.
    """

    def __init__(self, settings: SearchSettings, numbers: np.ndarray) -> None:
        self._settings = settings
        self._numbers = numbers
        # pages with a lower score cannot be among the best of a query; kept when hits are taken
        self._floors = np.full(len(numbers), -np.inf)
        self._clear()

    def _clear(self) -> None:
        self._positions: list[np.ndarray] = []
        self._scores: list[np.ndarray] = []
        self._pages: list[tuple[str, str]] = []
        self._count = 0

    @property
    def is_full(self) -> bool:
        return self._count >= MAX_HITS or len(self._pages) >= MAX_PAGES

    def add(self, url: str, source_url: str, positions: np.ndarray, scores: np.ndarray) -> None:
        """Add a page with its scores for the queries at these positions of the index."""
        good = scores >= self._floors[positions]
        if not good.any():
            return
        self._positions.append(positions[good])
        self._scores.append(scores[good])
        self._pages.append((url, source_url))
        self._count += int(good.sum())

    def take(self) -> pa.Table:
        """Remove and return the best hits of each query, queries in order of their numbers."""
        if not self._pages:
            return HITS.empty_table()
        positions, scores = np.concatenate(self._positions), np.concatenate(self._scores)
        sizes = [len(some) for some in self._positions]
        page = pa.array(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        urls, source_urls = (
            pa.DictionaryArray.from_arrays(page, list(texts))
            for texts in zip(*self._pages, strict=True)
        )
        hits = pa.table([self._numbers[positions], scores, urls, source_urls], schema=HITS)
        self._clear()
        best = best_of(hits, self._settings)
        self._raise_floors(best)
        return best

    def _raise_floors(self, best: pa.Table) -> None:
        """Raise the floor of each query that has as many hits as it can keep to its worst one."""
        queries, counts = np.unique(best["query"].to_numpy(), return_counts=True)
        last = np.cumsum(counts) - 1
        has_all = counts == self._settings.results
        positions = np.flatnonzero(np.isin(self._numbers, queries[has_all]))
        scores = best["score"].to_numpy()[last[has_all]]
        order = np.argsort(self._numbers[positions])
        self._floors[positions[order]] = np.maximum(self._floors[positions[order]], scores)
