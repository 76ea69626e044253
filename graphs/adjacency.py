"""Edges -> the matrix that replaces the weights of an attention head."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from wikisum.graphs.edges import Edges


def sparse_adjacency(edges: Edges, size: int) -> sparse.csr_matrix:
    """Return the row-normalized matrix [size, size] of eq. 24 of Liu & Lapata 2019.

    Rows sum to 1. Edges count in both directions. A paragraph without edges attends to itself.
    Raises ValueError for an edge out of bounds.
    """
    if edges.source and not 0 <= min(edges.source) <= max(edges.target) < size:
        raise ValueError(f"an edge names a paragraph outside 0 to {size - 1}")
    one, other = np.array(edges.source, dtype=np.intp), np.array(edges.target, dtype=np.intp)
    weight = np.array(edges.weight)
    rows, columns = np.concatenate([one, other]), np.concatenate([other, one])
    sums = np.bincount(rows, np.concatenate([weight, weight]), minlength=size)
    alone = np.flatnonzero(sums == 0)
    rows, columns = np.concatenate([rows, alone]), np.concatenate([columns, alone])
    weights = np.concatenate([weight, weight, np.ones(len(alone))])
    sums[alone] = 1.0
    normal = (weights / sums[rows]).astype(np.float32)
    return sparse.csr_matrix((normal, (rows, columns)), shape=(size, size))


def adjacency(edges: Edges, size: int) -> npt.NDArray[np.float32]:
    """Return `sparse_adjacency` as an array [size, size]."""
    matrix: npt.NDArray[np.float32] = sparse_adjacency(edges, size).toarray()
    return matrix
