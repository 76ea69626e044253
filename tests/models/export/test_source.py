from wikisum.models.export.source import Source, documents_of


def test_the_first_paragraphs_keep_their_ids_and_edges(data):
    for row in Source(str(data), 2).rows("train"):
        assert len(row["paragraphs"]) == len(row["paragraph_ids"]) == 2
        assert set(row["similarity_graph"]["target"]) <= {1}
        assert len(row["similarity_graph"]["weight"]) == len(row["similarity_graph"]["source"])


def test_documents_are_in_the_order_of_their_best_paragraph():
    places = [(1, 4, "c"), (0, 0, "a"), (1, 2, "b")]
    row = {"paragraphs": [{"document": d, "position": p, "text": t} for d, p, t in places]}
    assert documents_of(row) == ["b\nc", "a"]
