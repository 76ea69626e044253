"""LexRank (Erkan & Radev 2004) with paragraphs as nodes, as Liu & Lapata 2019 run it."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from wikisum.ranker.cosines import similar_pairs, tfidf_vectors
from wikisum.ranker.pagerank import Vector, pagerank

THRESHOLD = 0.1


def lexrank_scores(
    paragraphs: Sequence[Sequence[str]], threshold: float = THRESHOLD
) -> list[float]:
    """PageRank of each paragraph (as terms) among those whose tf-idf cosine is >= `threshold`.

    All edges weigh the same; each paragraph is like itself, unless it has no term of its own.
    """
    vectors = tfidf_vectors(paragraphs)
    size = len(paragraphs)
    source, target, _ = similar_pairs(vectors, threshold)
    itself = np.flatnonzero(np.diff(vectors.indptr))
    rows = np.concatenate([source, target, itself])
    columns = np.concatenate([target, source, itself])
    edges = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    return pagerank(edges.__matmul__, size)


def continuous_lexrank_scores(paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """PageRank of each paragraph (as terms), edges weighted by tf-idf cosine, none cut off.

    The cosines are never laid out: a step goes through the terms and back.
    """
    vectors = tfidf_vectors(paragraphs)
    transposed = vectors.T.tocsr()

    def weigh(values: Vector) -> Vector:
        weighed: Vector = vectors @ (transposed @ values)
        return weighed

    return pagerank(weigh, len(paragraphs))
