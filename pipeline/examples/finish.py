"""Joined examples, their graphs and a vocabulary -> `examples/`, in one pass over each shard.

Graphs and subword ids are added as columns to the row groups of a shard, so that an example is
written once after it was joined, and none is unpacked into Python objects for it.
"""

import os
from dataclasses import dataclass

import pyarrow as pa
import sentencepiece

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import ROW_GROUP_ROWS, read_tables
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.subwords import MODEL, load_processor
from wikisum.pipeline.records import EXAMPLE, Example

GRAPHS = ("similarity_graph", "discourse_graph")


def add_graphs(examples: pa.Table, graphs: pa.Table) -> pa.Table:
    """Return the examples with the graphs of the same rows. Raises ValueError for other rows."""
    if examples["id"].to_pylist() != graphs["id"].to_pylist():
        raise ValueError("the graphs are not those of the examples")
    for name in GRAPHS:
        examples = _with_column(examples, name, graphs[name])
    return examples


def add_ids(examples: pa.Table, processor: sentencepiece.SentencePieceProcessor) -> pa.Table:
    """Return the examples with the subword ids of title, lead and paragraphs.

    They are those of the text alone: models add begin, end and separators.
    """
    paragraphs = examples["paragraphs"].combine_chunks()
    texts = paragraphs.flatten().field("text").to_pylist()
    ids = processor.encode(texts, num_threads=1)
    offsets = pa.array([0, *pa.compute.cumulative_sum(paragraphs.value_lengths()).to_pylist()])
    type_ = EXAMPLE.field("paragraph_ids").type
    nested = pa.ListArray.from_arrays(
        offsets.cast(pa.int32()), pa.array(ids, type_.value_type), type=type_
    )
    for name in ("title", "lead"):
        found = processor.encode(examples[name].to_pylist(), num_threads=1)
        column = pa.array(found, EXAMPLE.field(f"{name}_ids").type)
        examples = _with_column(examples, f"{name}_ids", column)
    return _with_column(examples, "paragraph_ids", nested)


def _with_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    return table.set_column(EXAMPLE.get_field_index(name), EXAMPLE.field(name), column)


@dataclass(frozen=True)
class FinishShard:
    """One shard of graphs, and the examples that they belong to -> a shard of `examples/`.

    Without a vocabulary the ids stay null. Where no graphs were made, the shard of examples itself
    is named.
    """

    writer: StageWriter
    examples_folder: str
    vocab_sha256: str | None
    has_graphs: bool = True

    def __call__(self, index: int, path: str) -> PartResult:
        out, file = self.writer.out, os.path.basename(path)
        model = files.join(out, MODEL)
        processor = load_processor(model, self.vocab_sha256) if self.vocab_sha256 else None
        tables = read_tables(files.join(out, self.examples_folder, file))
        if self.has_graphs:
            graphs = read_tables(files.join(out, path))
            tables = (add_graphs(*pair) for pair in zip(tables, graphs, strict=True))
        with self.writer.part_like(index, path) as part:
            for examples in tables:
                if processor is not None:
                    examples = add_ids(examples, processor)
                    ids = examples["paragraph_ids"].combine_chunks()
                    part.counts["subwords_out"] += len(ids.flatten().flatten())
                part.write_table(Example, examples, ROW_GROUP_ROWS)
                part.ticker.add(items=len(examples), work=len(examples))
        part.counts["subwords_out"] += 0  # counted also where there is no vocabulary
        return part.result()
