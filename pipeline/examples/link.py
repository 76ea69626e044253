"""Example shards -> the same with both graphs, some examples at a time."""

import os
from dataclasses import dataclass

from wikisum.graphs.discourse import discourse_graph
from wikisum.graphs.edges import Edges
from wikisum.graphs.entities import paragraph_entities
from wikisum.graphs.similarity import similarity_graph
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import GraphSettings
from wikisum.pipeline.records import Example, example_from_row

BATCH_EXAMPLES = 32


def link(examples: list[Example], settings: GraphSettings) -> list[Example]:
    """The examples with their graphs; entities are recognised in one batch over all of them."""
    firsts = [example.paragraphs[: settings.graph_paragraphs] for example in examples]
    entities = iter(paragraph_entities([p.text for first in firsts for p in first]))
    linked = []
    for example, first in zip(examples, firsts, strict=True):
        texts = [p.text for p in first]
        similarity = similarity_graph(texts, settings.similarity_threshold)
        discourse = discourse_graph(
            texts,
            [p.document for p in first],
            [p.position for p in first],
            [next(entities) for _ in texts],
        )
        linked.append(
            example._replace(
                similarity_graph=_columns(similarity), discourse_graph=_columns(discourse)
            )
        )
    return linked


def _columns(edges: Edges) -> dict[str, list]:
    return {name: list(column) for name, column in edges._asdict().items()}


@dataclass(frozen=True)
class LinkShard:
    """One shard of examples -> the shard of that name, graphs filled in."""

    writer: StageWriter
    settings: GraphSettings

    def __call__(self, index: int, path: str) -> PartResult:
        name = os.path.basename(path).removesuffix(".parquet")
        batch: list[Example] = []
        with self.writer.part(index, name) as part:
            for row in read_rows(files.join(self.writer.out, path)):
                batch.append(example_from_row(row))
                if len(batch) == BATCH_EXAMPLES:
                    self._flush(batch, part)
            self._flush(batch, part)
        return part.result()

    def _flush(self, batch: list[Example], part: PartWriter) -> None:
        for example in link(batch, self.settings):
            part.write(example)
            part.counts["paragraphs_linked"] += len(example.paragraphs)
            for name in ("similarity", "discourse"):
                graph = getattr(example, f"{name}_graph")
                linked = set(graph["source"]).union(graph["target"])
                part.counts[f"{name}_edges_out"] += len(graph["weight"])
                part.counts[f"{name}_paragraphs_alone"] += len(example.paragraphs) - len(linked)
            part.ticker.add(items=len(example.paragraphs), work=1)
        batch.clear()
