"""Edges between the paragraphs of an example, as shards keep them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

WEIGHT_DIGITS = 6


class Edges(NamedTuple):
    """Weighted edges i < j between paragraph indexes, sorted by (i, j), each pair once."""

    source: list[int]
    target: list[int]
    weight: list[float]


def edges_of(weight_by_pair: Mapping[tuple[int, int], float]) -> Edges:
    """The edges of a mapping (i, j) -> weight with i < j, weights rounded to 6 digits.

    Rounded, they are the same whatever order a processor sums in.
    """
    pairs = sorted(weight_by_pair)
    return Edges(
        [i for i, _ in pairs],
        [j for _, j in pairs],
        [round(weight_by_pair[pair], WEIGHT_DIGITS) for pair in pairs],
    )


def permute(edges: Edges, order: Sequence[int]) -> Edges:
    """The edges after the paragraphs have been put in `order` (old indexes, some may be gone)."""
    place = {old: new for new, old in enumerate(order)}
    rows: Iterable[tuple[int, int, float]] = zip(*edges, strict=True)
    kept = {
        (min(place[i], place[j]), max(place[i], place[j])): weight
        for i, j, weight in rows
        if i in place and j in place
    }
    return edges_of(kept)
