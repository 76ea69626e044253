"""A few examples as they are, for the report: text, sources and graphs of those drawn by lot."""

import heapq
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_each, read_rows, tables_of
from wikisum.pipeline.engine.workspace import PartResult, Workspace
from wikisum.pipeline.report.leakage import write_keys

KEPT_EXAMPLES = 5
SHOWN_PARAGRAPHS = 3
_GRAPHS = ("similarity_graph", "discourse_graph")
_COLUMNS = ["id", "title", "url", "lead", "documents", "paragraphs", "categories", *_GRAPHS]


class KeptExample(NamedTuple):
    """An example that may be shown: those with the least `lot` are. `text` is JSON."""

    lot: str
    text: str


@dataclass(frozen=True)
class ReadExamples:
    """Shards of examples -> the keys in them, and those examples that the report may show."""

    writer: StageWriter

    def __call__(self, index: int, paths: Sequence[str]) -> PartResult:
        drawn: list[tuple[str, str, pa.Table]] = []  # the lot, the split and the row of an example
        with self.writer.part_like(index, paths[0]) as part:
            for path in paths:
                split = os.path.basename(path).split("-")[0]
                for table in tables_of(self.writer.out, [path], _COLUMNS):
                    write_keys(part, split, table)
                    lots = [(lot_of(one), i) for i, one in enumerate(table["id"].to_pylist())]
                    drawn += [(lot, split, table.slice(i, 1)) for lot, i in lots]
                    drawn = heapq.nsmallest(KEPT_EXAMPLES, drawn, key=itemgetter(0))
            for lot, split, row in drawn:
                shown = {**shown_example(row.to_pylist()[0]), "split": split}
                part.write(KeptExample(lot, json.dumps(shown)))
        return part.result()


def lot_of(identity: str) -> str:
    """Return the digest of an id by which examples are drawn; the same in every build."""
    return blake2b(identity.encode(), digest_size=8, person=b"report").hexdigest()


def shown_example(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the report shows of a row of `examples/`: its best paragraphs, its edges."""
    return {
        "title": row["title"],
        "url": row["url"],
        "lead": row["lead"],
        "categories": row["categories"] or [],
        "paragraphs": len(row["paragraphs"]),
        "documents": len(row["documents"]),
        "best": [
            {
                "text": paragraph["text"],
                "score": round(paragraph["score"], 4),
                **{key: row["documents"][paragraph["document"]][key] for key in _PLACE},
            }
            for paragraph in row["paragraphs"][:SHOWN_PARAGRAPHS]
        ],
        "graphs": {
            name.removesuffix("_graph"): [
                list(edge) for edge in zip(row[name]["source"], row[name]["target"], strict=True)
            ]
            for name in _GRAPHS
            if row[name] is not None
        },
    }


_PLACE = ("url", "source", "warc_file", "offset")


def read_kept(workspace: Workspace, paths: list[str]) -> list[dict[str, Any]]:
    """Return the examples that the report shows, of those drawn from all shards."""
    found = read_each(lambda path: list(read_rows(path)), map(workspace.path, paths))
    rows = (row for rows in found for row in rows)
    drawn = heapq.nsmallest(KEPT_EXAMPLES, rows, key=lambda row: str(row["lot"]))
    return [json.loads(row["text"]) for row in drawn]


class Drawing(NamedTuple):
    """A graph as a circle of nodes: their places, and the lines between them, in its units."""

    nodes: list[tuple[float, float]]
    lines: list[tuple[float, float, float, float]]


def drawing(count: int, edges: list[list[int]], radius: float = 100.0) -> Drawing:
    """Place `count` nodes clockwise on a circle around (0, 0), the first at the top."""
    angles = [2 * math.pi * number / max(count, 1) for number in range(count)]
    nodes = [(round(radius * math.sin(a), 1), round(-radius * math.cos(a), 1)) for a in angles]
    return Drawing(nodes, [(*nodes[source], *nodes[target]) for source, target in edges])
