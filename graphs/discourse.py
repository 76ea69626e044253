"""The discourse graph: paragraphs that name the same things, or follow on from each other."""

import re
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

from graphs.edges import Edges, edges_of
from graphs.entities import paragraph_entities

ENTITY_WEIGHT = 0.2
MARKER_WEIGHT = 1.0
# Liu & Lapata 2019, A.2
MARKERS = (
    "again", "also", "another", "comparatively", "furthermore", "at the same time", "however",
    "immediately", "indeed", "instead", "to be sure", "likewise", "meanwhile", "moreover",
    "nevertheless", "nonetheless", "notably", "otherwise", "regardless", "similarly", "unlike",
    "in addition", "even", "in turn", "in exchange", "in this case", "in any event", "finally",
    "later", "as well", "especially", "as a result", "example", "in fact", "then",
    "the day before",
)  # fmt: skip
_JOINED = re.compile(
    r"\W*(?:(?:and|but|so|or|yet|for|as an|by way of)\s+)?(?:"
    + "|".join(MARKERS).replace(" ", r"\s+")
    + r")\b",
    re.IGNORECASE,
)


def begins_with_marker(paragraph: str) -> bool:
    """Whether a marker joins the paragraph to what stands before it: at its start.

    The paper does not say where the marker must stand. At the start, after at most a conjunction
    (`For example`, `But then`), it speaks of the paragraph before; elsewhere it seldom does.
    """
    return _JOINED.match(paragraph) is not None


def discourse_graph(
    paragraphs: Sequence[str],
    documents: Sequence[int],
    positions: Sequence[int],
    entities: Sequence[AbstractSet[str]] | None = None,
) -> Edges:
    """0.2 for each entity that two paragraphs share, and 1 if one follows on from the other.

    It follows on if it stands next in the same document and begins with one of 36 markers
    (Liu & Lapata 2019, A.2, eq. 26). `documents` and `positions` say where each paragraph stands;
    `entities` are recognised here if they are not given.
    """
    if entities is None:
        entities = paragraph_entities(paragraphs)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    holders: dict[str, list[int]] = defaultdict(list)
    for index, names in enumerate(entities):
        for name in names:
            holders[name].append(index)
    for indexes in holders.values():
        for pair in combinations(indexes, 2):
            shared[pair] += 1
    weights = {pair: ENTITY_WEIGHT * count for pair, count in shared.items()}
    places = list(zip(documents, positions, strict=True))
    index_at = {place: index for index, place in enumerate(places)}
    for index, (document, position) in enumerate(places):
        before = index_at.get((document, position - 1))
        if before is not None and begins_with_marker(paragraphs[index]):
            pair = (min(before, index), max(before, index))
            weights[pair] = weights.get(pair, 0.0) + MARKER_WEIGHT
    return edges_of(weights)
