"""Paragraphs as tf-idf vectors, and the cosines between them, sparse throughout."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

_BLOCK_ROWS = 512
# Cosines are rounded, so that they are the same whatever a processor's last bits are.
COSINE_DIGITS = 6


def term_counts(paragraphs: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """How often each term (column, in order of first use) is in each paragraph (row)."""
    column: dict[str, int] = {}
    columns = [column.setdefault(term, len(column)) for terms in paragraphs for term in terms]
    ends = np.cumsum([0, *map(len, paragraphs)])
    counts = sparse.csr_matrix(
        (np.ones(len(columns)), np.array(columns, dtype=np.int32), ends),
        shape=(len(paragraphs), len(column)),
    )
    counts.sum_duplicates()
    return counts


def tfidf_vectors(paragraphs: Sequence[Sequence[str]]) -> sparse.csr_matrix:
    """Rows v = N_w log(N_d / N_dw) of length 1 (Liu & Lapata 2019, A.1, eq. 25).

    Idf counts the given paragraphs. A row is all zero if its every term is in every paragraph.
    """
    from sklearn.preprocessing import normalize  # takes a second, and few methods need it

    vectors = term_counts(paragraphs)
    holders = np.bincount(vectors.indices, minlength=vectors.shape[1])
    vectors.data *= np.log(len(paragraphs) / holders)[vectors.indices]
    vectors.eliminate_zeros()
    return normalize(vectors, copy=False) if vectors.nnz else vectors


def similar_pairs(
    vectors: sparse.csr_matrix, threshold: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """(i, j, cosine) of the pairs i < j whose rounded cosine is over 0 and at least `threshold`.

    Sorted by (i, j). Rows are taken by blocks: memory does not grow with the square of the rows.
    """
    columns = vectors.T.tocsr()
    found = []
    for start in range(0, vectors.shape[0], _BLOCK_ROWS):
        block = sparse.csr_matrix(vectors[start : start + _BLOCK_ROWS] @ columns)
        near = np.flatnonzero(block.data >= threshold - 10.0**-COSINE_DIGITS)
        rows = start + np.searchsorted(block.indptr, near, side="right") - 1
        targets = block.indices[near].astype(np.int64)
        cosines = np.minimum(np.round(block.data[near], COSINE_DIGITS), 1.0)
        kept = np.flatnonzero((targets > rows) & (cosines >= threshold) & (cosines > 0))
        kept = kept[np.lexsort((targets[kept], rows[kept]))]
        found.append((rows[kept], targets[kept], cosines[kept]))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    rows, targets, cosines = (np.concatenate(column) for column in zip(*found, strict=True))
    return rows, targets, cosines
