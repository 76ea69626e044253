"""Joined examples -> the graphs of their paragraphs, some examples at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from wikisum.graphs.discourse import discourse_graph
from wikisum.graphs.edges import Edges
from wikisum.graphs.entities import paragraph_entities
from wikisum.graphs.similarity import similarity_graph
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.settings import GraphSettings
from wikisum.pipeline.records import Graphs, Paragraph

EXAMPLES_PER_BATCH = 32


def link(
    examples: Sequence[Sequence[Paragraph]], settings: GraphSettings
) -> list[list[Edges | None]]:
    """Return the similarity graph and the discourse graph of each example's paragraphs.

    A graph that the settings do not ask for is None.
    """
    firsts = [paragraphs[: settings.graph_paragraphs] for paragraphs in examples]
    none: list[Edges | None] = [None] * len(firsts)
    similarity = _similarity(firsts, settings) if settings.has("similarity") else none
    discourse = _discourse(firsts, settings) if settings.has("discourse") else none
    return [list(graphs) for graphs in zip(similarity, discourse, strict=True)]


def _similarity(examples: list[Sequence[Paragraph]], settings: GraphSettings) -> list[Edges | None]:
    return [similarity_graph([p.text for p in e], settings.similarity_threshold) for e in examples]


def _flat(texts_of_examples: list[list[str]]) -> list[str]:
    return [text for texts in texts_of_examples for text in texts]


def _discourse(examples: list[Sequence[Paragraph]], settings: GraphSettings) -> list[Edges | None]:
    """The discourse graphs. Entities are recognized in one batch over all examples."""
    read = [[p.text for p in e[: settings.entity_paragraphs]] for e in examples]
    if settings.entities == "none":
        read = [[] for _ in examples]
    entities = iter(paragraph_entities(_flat(read), settings.entities))
    graphs: list[Edges | None] = []
    for paragraphs, texts in zip(examples, read, strict=True):
        names = [next(entities) for _ in texts]
        unread = [frozenset[str]()] * (len(paragraphs) - len(texts))
        graphs.append(
            discourse_graph(
                [p.text for p in paragraphs],
                [p.document for p in paragraphs],
                [p.position for p in paragraphs],
                names + unread,
            )
        )
    return graphs


@dataclass(frozen=True)
class LinkShard:
    """One shard of joined examples -> the shard of their graphs."""

    writer: StageWriter
    settings: GraphSettings

    def __call__(self, index: int, path: str) -> PartResult:
        rows = read_rows(files.join(self.writer.out, path), ["id", "paragraphs"])
        with self.writer.part_like(index, path) as part:
            while batch := list(islice(rows, EXAMPLES_PER_BATCH)):
                examples = [[Paragraph(**p) for p in row["paragraphs"]] for row in batch]
                linked = link(examples, self.settings)
                for row, paragraphs, graphs in zip(batch, examples, linked, strict=True):
                    part.write(Graphs(row["id"], *map(_columns, graphs)))
                    _count(part, graphs, len(paragraphs))
        return part.result()


def _columns(edges: Edges | None) -> dict[str, list] | None:
    return None if edges is None else {n: list(column) for n, column in edges._asdict().items()}


def _count(part: PartWriter, graphs: list[Edges | None], paragraphs: int) -> None:
    part.counts["paragraphs_linked"] += paragraphs
    for name, graph in zip(("similarity", "discourse"), graphs, strict=True):
        if graph is None:
            continue
        part.counts[f"{name}_edges_out"] += len(graph.weight)
        alone = paragraphs - len(set(graph.source).union(graph.target))
        part.counts[f"{name}_paragraphs_alone"] += alone
    part.ticker.add(items=paragraphs, work=1)
