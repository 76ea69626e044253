"""The best hits of each query so far: in arrays, since a page may answer hundreds of queries."""

import numpy as np
import pyarrow as pa

from wikisum.pipeline.options import SearchSettings
from wikisum.pipeline.search.merge import HITS, best_of

MAX_HITS = 1 << 20  # held at once, some 100 MB when they are sorted
MAX_PAGES = 1 << 16


class Pool:
    """Takes hits, and forgets those that cannot be among the best.

    `numbers` has the number of each query by its place in the index.
    """

    def __init__(self, settings: SearchSettings, numbers: np.ndarray) -> None:
        self._settings = settings
        self._numbers = numbers
        # the score under which a page has no chance with a query, also after hits were taken
        self._floors = np.full(len(numbers), -np.inf)
        self._clear()

    def _clear(self) -> None:
        self._places: list[np.ndarray] = []
        self._scores: list[np.ndarray] = []
        self._pages: list[tuple[str, str]] = []
        self._count = 0

    @property
    def is_full(self) -> bool:
        return self._count >= MAX_HITS or len(self._pages) >= MAX_PAGES

    def add(self, url: str, source_url: str, places: np.ndarray, scores: np.ndarray) -> None:
        """Add a page with its scores for queries, these by their places."""
        good = scores >= self._floors[places]
        if not good.any():
            return
        self._places.append(places[good])
        self._scores.append(scores[good])
        self._pages.append((url, source_url))
        self._count += int(good.sum())

    def take(self) -> pa.Table:
        """The best hits of each query, queries in order of their numbers; none are left then."""
        if not self._pages:
            return HITS.empty_table()
        places, scores = np.concatenate(self._places), np.concatenate(self._scores)
        sizes = [len(some) for some in self._places]
        page = pa.array(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))
        urls, source_urls = (
            pa.DictionaryArray.from_arrays(page, list(texts))
            for texts in zip(*self._pages, strict=True)
        )
        hits = pa.table([self._numbers[places], scores, urls, source_urls], schema=HITS)
        self._clear()
        best = best_of(hits, self._settings)
        self._raise_floors(best)
        return best

    def _raise_floors(self, best: pa.Table) -> None:
        """A query that has all the hits it can keep needs none that are worse than its last."""
        queries, counts = np.unique(best["query"].to_numpy(), return_counts=True)
        last = np.cumsum(counts) - 1
        has_all = counts == self._settings.results
        places = np.flatnonzero(np.isin(self._numbers, queries[has_all]))
        scores = best["score"].to_numpy()[last[has_all]]
        order = np.argsort(self._numbers[places])
        self._floors[places[order]] = np.maximum(self._floors[places[order]], scores)
