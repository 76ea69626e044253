"""LexRank (Erkan & Radev 2004) with paragraphs as nodes."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from wikisum.ranker.cosines import similar_pairs, tfidf_vectors
from wikisum.ranker.pagerank import Vector, pagerank

THRESHOLD = 0.1


def thresholded_lexrank_scores(
    paragraphs: Sequence[Sequence[str]], threshold: float = THRESHOLD
) -> list[float]:
    """Return the PageRank of each paragraph (as terms) in a graph of similar paragraphs.

    Paragraphs whose tf-idf cosine is at least `threshold` are linked, all links with weight 1
    (the original LexRank); each paragraph is linked to itself, unless it has no term of its own.
    """
    vectors = tfidf_vectors(paragraphs)
    size = len(paragraphs)
    source, target, _ = similar_pairs(vectors, threshold)
    itself = np.flatnonzero(np.diff(vectors.indptr))
    rows = np.concatenate([source, target, itself])
    columns = np.concatenate([target, source, itself])
    edges = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(size, size))
    return pagerank(edges.__matmul__, size)


def lexrank_scores(paragraphs: Sequence[Sequence[str]]) -> list[float]:
    """Return the PageRank of each paragraph (as terms), links weighted by tf-idf cosine.

    All links count, as Liu & Lapata 2019 say (continuous LexRank). The matrix of cosines is never
    built: each step multiplies with the term vectors and their transpose.
    """
    vectors = tfidf_vectors(paragraphs)
    transposed = vectors.T.tocsr()

    def weigh(values: Vector) -> Vector:
        return vectors @ (transposed @ values)

    return pagerank(weigh, len(paragraphs))
