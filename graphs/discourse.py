"""The discourse graph: paragraphs that share entities or are linked by a discourse marker."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from scipy import sparse

from wikisum.graphs.edges import Edges, sorted_edges
from wikisum.graphs.entities import paragraph_entities
from wikisum.ranker.cosines import term_counts

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
    """Whether the paragraph begins with a discourse marker, which links it to the one before.

    The paper does not say where the marker must be. At the start, after at most a conjunction
    (`For example`, `But then`), it refers to the paragraph before; elsewhere it rarely does.
    """
    return _JOINED.match(paragraph) is not None


def discourse_graph(
    paragraphs: Sequence[str],
    documents: Sequence[int],
    positions: Sequence[int],
    entities: Sequence[AbstractSet[str]] | None = None,
) -> Edges:
    """Return edges of weight 0.2 per shared entity, plus 1 for a discourse marker.

    The marker counts if the second paragraph comes next in the same document and begins with one
    of 36 markers (Liu & Lapata 2019, A.2, eq. 26). `documents` and `positions` locate each
    paragraph; `entities` are recognized here if they are not given.
    Raises ValueError if the lists differ in length.
    """
    if entities is None:
        entities = paragraph_entities(paragraphs)
    size = len(paragraphs)
    if not size == len(documents) == len(positions) == len(entities):
        raise ValueError("paragraphs, documents, positions and entities must be equally many")
    weights = ENTITY_WEIGHT * _shared_counts(entities)
    joined = np.array(_joined_pairs(paragraphs, documents, positions), dtype=np.intp)
    if joined.size:
        ones = np.full(len(joined), MARKER_WEIGHT)
        weights = weights + sparse.csr_matrix((ones, tuple(joined.T)), shape=(size, size))
    edges = weights.tocoo()
    return sorted_edges(edges.row, edges.col, edges.data)


def _shared_counts(entities: Sequence[AbstractSet[str]]) -> sparse.csr_matrix:
    """Return the number of entities that paragraphs i < j share, [P, P]."""
    holders = term_counts([sorted(names) for names in entities])
    return sparse.triu(holders @ holders.T, k=1, format="csr")


def _joined_pairs(
    paragraphs: Sequence[str], documents: Sequence[int], positions: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the pairs i < j of adjacent paragraphs of a page that a marker links."""
    index_at = {place: i for i, place in enumerate(zip(documents, positions, strict=True))}
    pairs = []
    for (document, position), index in index_at.items():
        before = index_at.get((document, position - 1))
        if before is not None and begins_with_marker(paragraphs[index]):
            pairs.append((min(before, index), max(before, index)))
    return pairs
