"""The best pages of many queries at once, out of any number of hits: a hit is a page's score."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


def best_hits(
    queries: Numbers,
    scores: NDArray[np.float64],
    captures: Numbers,
    pages: Numbers,
    hosts: Numbers,
    per_query: int,
    per_host: int,
) -> Numbers:
    """Return the indexes of the best hits: queries in order, for each the best first; all [N].

    A query keeps its best `per_query` hits, each page once, at most `per_host` of a host. Hits of
    one score stand in the order of `captures`; equal `pages` and `hosts` have equal numbers. The
    order of the hits does not matter, nor whether some went through this before.
    """
    order = np.lexsort((captures, -scores, queries))
    for one_of, limit in ((pages, 1), (hosts, per_host), (None, per_query)):
        keys = (queries[order],) if one_of is None else (one_of[order], queries[order])
        order = order[_equals_before(keys) < limit]
    return order


def _equals_before(keys: tuple[Numbers, ...]) -> Numbers:
    """Return for each index how many earlier ones have the same keys."""
    order = np.lexsort(keys)  # stable: equals stay in their order
    is_first = np.ones(len(order), np.bool_)
    if len(order):
        ordered = [key[order] for key in keys]
        is_first[1:] = np.any([key[1:] != key[:-1] for key in ordered], axis=0)
    starts = np.flatnonzero(is_first)
    indexes = np.arange(len(order))
    counts = np.empty(len(order), np.int64)
    counts[order] = indexes - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return counts
