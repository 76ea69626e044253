"""The similarity graph: paragraphs that share rare words."""

from collections.abc import Sequence

from wikisum.crawl.tokens import terms
from wikisum.graphs.edges import Edges, sorted_edges
from wikisum.ranker.cosines import similar_pairs, tfidf_vectors


def similarity_graph(paragraphs: Sequence[str], threshold: float = 0.2) -> Edges:
    """Return edges between paragraphs whose tf-idf cosine is at least `threshold`.

    v = N_w log(N_d / N_dw) over the given paragraphs (Liu & Lapata 2019, A.1, eq. 25). Pairs with
    no common term have no edge, whatever the threshold; cosines are rounded to 6 digits first.
    """
    vectors = tfidf_vectors([terms(paragraph) for paragraph in paragraphs])
    return sorted_edges(*similar_pairs(vectors, threshold))
