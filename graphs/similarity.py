"""The similarity graph: paragraphs that share rare words."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from crawl.tokens import terms
from graphs.edges import Edges, edges_of


def similarity_graph(paragraphs: Sequence[str], threshold: float = 0.2) -> Edges:
    """Pairs of paragraphs whose tf-idf cosine is at least `threshold`.

    v = N_w log(N_d / N_dw) over the given paragraphs (Liu & Lapata 2019, A.1, eq. 25). Pairs with
    no common term have no edge, whatever the threshold.
    """
    cosines = sparse.triu(tfidf_cosines(paragraphs), k=1).tocoo()
    pairs = zip(cosines.row.tolist(), cosines.col.tolist(), cosines.data.tolist(), strict=True)
    return edges_of({(i, j): w for i, j, w in pairs if w >= threshold and w > 0})


def tfidf_cosines(paragraphs: Sequence[str]) -> sparse.csr_matrix:
    """Cosines of all pairs, [P, P] sparse. A paragraph without terms is like none, itself too."""
    size = len(paragraphs)
    words = [terms(p) for p in paragraphs]
    if not any(words):
        return sparse.csr_matrix((size, size))
    counts = CountVectorizer(analyzer=list).fit_transform(words).astype(np.float64)
    holders = np.bincount(counts.indices, minlength=counts.shape[1])
    rows = normalize(counts.multiply(np.log(size / holders)).tocsr())
    return sparse.csr_matrix(rows @ rows.T)
