"""The examples of a dataset, as exports read them, and the documents that they are made of."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import sentencepiece

from wikisum.pipeline.records import EXAMPLE, SPLITS
from wikisum.ranker.data.shards import find_vocab, read_group, row_groups, split_shards
from wikisum.ranker.data.vocab import load_model

Row = dict[str, Any]


class Source(NamedTuple):
    """A dataset in the folder `data`; an export reads the first `max_paragraphs` of an example."""

    data: str
    max_paragraphs: int | None = None

    def splits(self) -> list[str]:
        """Return the splits that have shards. Raises FileNotFoundError if there are none."""
        found = [split for split in SPLITS if self._has(split)]
        if not found:
            split_shards(self.data, SPLITS[0])
        return found

    def _has(self, split: str) -> bool:
        try:
            return bool(split_shards(self.data, split))
        except FileNotFoundError:
            return False

    def rows(self, split: str, columns: Sequence[str] = EXAMPLE.names) -> Iterator[Row]:
        """Yield the examples of a split, best paragraphs first."""
        for group in row_groups(split_shards(self.data, split)):
            for row in read_group(group, columns).to_pylist():
                yield self._cut(row)

    def _cut(self, row: Row) -> Row:
        """The example with its first paragraphs, and what belongs to these."""
        size = self.max_paragraphs
        if size is None or len(row.get("paragraphs") or ()) <= size:
            return row
        row["paragraphs"] = row["paragraphs"][:size]
        if row.get("paragraph_ids"):
            row["paragraph_ids"] = row["paragraph_ids"][:size]
        for name in ("similarity_graph", "discourse_graph"):
            if row.get(name):
                row[name] = _edges_below(row[name], size)
        return row

    def vocab(self) -> tuple[bytes, sentencepiece.SentencePieceProcessor]:
        """Return the SentencePiece model. Raises FileNotFoundError if the dataset has none."""
        model = find_vocab(self.data)
        return model, load_model(model, f"the vocabulary of {self.data}")


def _edges_below(graph: Row, size: int) -> Row:
    kept = [i for i, target in enumerate(graph["target"]) if target < size]
    return {name: [values[i] for i in kept] for name, values in graph.items()}


def documents_of(row: Row) -> list[str]:
    """Return the texts of an example's documents, one paragraph per line, in page order.

    The document with the best paragraph comes first.
    """
    lines_by_document: dict[int, list[tuple[int, str]]] = {}
    for paragraph in row["paragraphs"]:
        lines = lines_by_document.setdefault(paragraph["document"], [])
        lines.append((paragraph["position"], paragraph["text"]))
    return ["\n".join(text for _, text in sorted(lines)) for lines in lines_by_document.values()]
