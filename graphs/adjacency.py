"""Edges -> the matrix that replaces an attention head."""

import numpy as np
import numpy.typing as npt

from graphs.edges import Edges


def adjacency(edges: Edges, size: int) -> npt.NDArray[np.float32]:
    """The row-normalised matrix [size, size] of eq. 24 of Liu & Lapata 2019; rows sum to 1.

    Edges count both ways. A paragraph without edges attends to itself, so that no row is empty.
    Raises ValueError for an edge out of bounds.
    """
    if edges.source and not 0 <= min(edges.source) <= max(edges.target) < size:
        raise ValueError(f"an edge leaves the {size} paragraphs")
    matrix = np.zeros((size, size))
    matrix[edges.source, edges.target] = edges.weight
    matrix[edges.target, edges.source] = edges.weight
    sums = matrix.sum(axis=1)
    alone = np.flatnonzero(sums == 0)
    matrix[alone, alone] = 1.0
    normal: npt.NDArray[np.float32] = (matrix / matrix.sum(axis=1, keepdims=True)).astype(
        np.float32
    )
    return normal
