"""Joined examples -> the graphs of their paragraphs, some examples at a time."""

import os
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
from wikisum.pipeline.options import GraphSettings
from wikisum.pipeline.records import Graphs, Paragraph

EXAMPLES_PER_BATCH = 32


def link(examples: Sequence[Sequence[Paragraph]], settings: GraphSettings) -> list[list[Edges]]:
    """Return the similarity graph and the discourse graph of each example's paragraphs.

    Entities are recognized in one batch over all of them.
    """
    firsts = [paragraphs[: settings.graph_paragraphs] for paragraphs in examples]
    entities = iter(paragraph_entities([p.text for first in firsts for p in first]))
    return [
        [
            similarity_graph([p.text for p in first], settings.similarity_threshold),
            discourse_graph(
                [p.text for p in first],
                [p.document for p in first],
                [p.position for p in first],
                [next(entities) for _ in first],
            ),
        ]
        for first in firsts
    ]


@dataclass(frozen=True)
class LinkShard:
    """One shard of joined examples -> the shard of their graphs."""

    writer: StageWriter
    settings: GraphSettings

    def __call__(self, index: int, path: str) -> PartResult:
        name = os.path.basename(path).removesuffix(".parquet")
        rows = read_rows(files.join(self.writer.out, path), ["id", "paragraphs"])
        with self.writer.part(index, name) as part:
            while batch := list(islice(rows, EXAMPLES_PER_BATCH)):
                examples = [[Paragraph(**p) for p in row["paragraphs"]] for row in batch]
                linked = link(examples, self.settings)
                for row, paragraphs, graphs in zip(batch, examples, linked, strict=True):
                    part.write(Graphs(row["id"], *map(_columns, graphs)))
                    _count(part, graphs, len(paragraphs))
        return part.result()


def _columns(edges: Edges) -> dict[str, list]:
    return {name: list(column) for name, column in edges._asdict().items()}


def _count(part: PartWriter, graphs: list[Edges], paragraphs: int) -> None:
    part.counts["paragraphs_linked"] += paragraphs
    for name, graph in zip(("similarity", "discourse"), graphs, strict=True):
        part.counts[f"{name}_edges_out"] += len(graph.weight)
        alone = paragraphs - len(set(graph.source).union(graph.target))
        part.counts[f"{name}_paragraphs_alone"] += alone
    part.ticker.add(items=paragraphs, work=1)
