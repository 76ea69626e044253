"""Edges between the paragraphs of an example, as they are stored in shards."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

WEIGHT_DIGITS = 6


class Edges(NamedTuple):
    """Weighted edges i < j between paragraph indexes, sorted by (i, j), each pair once."""

    source: list[int]
    target: list[int]
    weight: list[float]


def sorted_edges(
    one: npt.NDArray[np.integer[Any]],
    other: npt.NDArray[np.integer[Any]],
    weight: npt.NDArray[np.floating[Any]],
) -> Edges:
    """Return the edges between `one` and `other` (equally long; each pair once, i != j, any order).

    Weights are rounded to 6 digits, so that the order in which a processor sums does not matter.
    """
    source, target = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((target, source))
    rounded = np.round(weight.astype(np.float64), WEIGHT_DIGITS)
    return Edges(source[order].tolist(), target[order].tolist(), rounded[order].tolist())


def permute(edges: Edges, order: Sequence[int]) -> Edges:
    """Return the edges after reordering paragraphs; `order` holds old indexes, each at most once.

    Paragraphs missing from `order` are dropped with their edges. Raises ValueError if an index
    occurs twice.
    """
    if len(set(order)) != len(order):
        raise ValueError("the order contains a paragraph twice")
    size = max([-1, *order, *edges.target]) + 1
    place = np.full(size, -1)
    place[list(order)] = np.arange(len(order))
    source = place[np.array(edges.source, dtype=np.intp)]
    target = place[np.array(edges.target, dtype=np.intp)]
    kept = (source >= 0) & (target >= 0)
    return sorted_edges(source[kept], target[kept], np.array(edges.weight)[kept])
