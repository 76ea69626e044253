from wikisum.pipeline.examples.link import link
from wikisum.pipeline.options import GraphSettings
from wikisum.pipeline.records import Example, Paragraph

SAME = "The Tavin bridge was built by Josiah Penrose at Osterby."


def test_only_the_first_paragraphs_are_linked_where_so_many_are_named():
    paragraphs = [Paragraph(f"{SAME} {word}", 0, i, 0.0, 0.0) for i, word in enumerate("abcde")]
    texts = ["One paragraph of other words.", "Nothing that is shared here."]
    others = [Paragraph(text, 1, i, 0.0, 0.0) for i, text in enumerate(texts)]
    example = Example("1", "Bridge", "", "lead", [], [], [*paragraphs, *others])
    (whole,) = link([example], GraphSettings())
    first, again = link([example, example], GraphSettings(graph_paragraphs=3))
    assert first == again
    assert max(whole.discourse_graph["target"]) == 4
    pairs = list(zip(first.discourse_graph["source"], first.discourse_graph["target"], strict=True))
    assert pairs == [(0, 1), (0, 2), (1, 2)]
    assert len(first.paragraphs) == 7
