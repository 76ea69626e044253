import pytest

from wikisum.pipeline.examples.link import link
from wikisum.pipeline.examples.settings import GraphSettings
from wikisum.pipeline.records import Paragraph

SAME = "The Tavin bridge was built by Josiah Penrose at Osterby."


@pytest.mark.slow
def test_only_the_first_paragraphs_are_linked_where_so_many_are_named():
    paragraphs = [Paragraph(f"{SAME} {word}", 0, i, 0.0, 0.0) for i, word in enumerate("abcde")]
    texts = ["One paragraph of other words.", "Nothing that is shared here."]
    example = [*paragraphs, *(Paragraph(t, 1, i, 0.0, 0.0) for i, t in enumerate(texts))]
    ((_, whole),) = link([example], GraphSettings())
    first, again = link([example, example], GraphSettings(graph_paragraphs=3))
    assert first == again
    assert max(whole.target) == 4
    assert list(zip(first[1].source, first[1].target, strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_each_example_has_graphs_of_its_own():
    alone = [Paragraph("Sheep crossed the river at low water.", 0, 0, 0.0, 0.0)]
    pair = [*alone, Paragraph(SAME, 1, 0, 0.0, 0.0), Paragraph(SAME, 2, 0, 0.0, 0.0)]
    none, (similar, shared) = link([alone, pair], GraphSettings())
    assert [len(graph.weight) for graph in none] == [0, 0]
    assert (list(similar.source), list(similar.target)) == ([1], [2])
    assert similar.weight[0] > 0.99
    assert len(shared.weight) == 1


def test_entities_link_the_first_paragraphs_and_markers_all():
    texts = [SAME, f"{SAME} Again.", f"{SAME} Today.", f"Later {SAME}"]
    example = [Paragraph(text, 0, i, 0.0, 0.0) for i, text in enumerate(texts)]
    ((_, first),) = link([example], GraphSettings(entity_paragraphs=2))
    assert list(zip(first.source, first.target, strict=True)) == [(0, 1), (2, 3)]
    assert first.weight[1] == 1.0
    ((_, markers),) = link([example], GraphSettings(entities="none"))
    assert (markers.source, markers.target, markers.weight) == ([2], [3], [1.0])


def test_no_entities_need_no_model(monkeypatch):
    monkeypatch.setattr("wikisum.graphs.entities.recognizer", None)
    link([[Paragraph(SAME, 0, 0, 0.0, 0.0)]], GraphSettings(entities="none"))
