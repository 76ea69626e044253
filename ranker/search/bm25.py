"""BM25 over weighted fields (BM25F): how well a page answers the terms of a query.

Robertson, Zaragoza & Taylor 2004; Robertson & Zaragoza 2009, section 3.6. The counts of a term in
the fields are normalized by each field's length, weighted and summed before they saturate, so
that a term in the page's title counts once, not once more beside the text.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

FIELDS = ("title", "headings", "text")
FIELD_WEIGHTS = np.array([5.0, 3.0, 1.0])
LENGTH_SHARES = np.array([0.5, 0.5, 0.75])  # b of each field: 0 ignores its length
SATURATION = 1.2  # k1


class Collection(NamedTuple):
    """What is counted over all pages: how many, and the summed length of each field in terms."""

    page_count: int
    field_lengths: Counts


def idf(holders: Counts, page_count: int) -> Floats:
    """log(1 + (N - n + 0.5) / (n + 0.5)) for terms that n of N pages hold; never under 0.

    n may be larger than N, where the counts come of a part of the pages only.
    """
    rest = np.maximum(page_count - holders, 0)
    return np.log1p((rest + 0.5) / (holders + 0.5))


def term_weights(counts_FT: Counts, lengths_F: Counts, idf_T: Floats, of: Collection) -> Floats:
    """What each of T terms adds to a page's score; that of a query is the sum over its terms.

    Field f of the page has `lengths_F[f]` terms and holds term t `counts_FT[f, t]` times.
    """
    mean_F = np.maximum(of.field_lengths / max(of.page_count, 1), 1e-9)
    norm_F = 1 - LENGTH_SHARES + LENGTH_SHARES * lengths_F / mean_F
    frequency_T = (FIELD_WEIGHTS / norm_F) @ counts_FT
    return idf_T * frequency_T / (SATURATION + frequency_T)
