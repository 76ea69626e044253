"""A dataset on disk, as typed examples, data frames and graphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from wikisum.pipeline.records import EXAMPLE, SPLITS, Example, example_from_row
from wikisum.ranker.data.shards import (
    RowGroup,
    find_vocab,
    open_folder,
    read_group,
    row_groups,
    split_shards,
)

if TYPE_CHECKING:
    import networkx
    import pandas
    import sentencepiece

GRAPHS = ("similarity", "discourse")


class EdgeArrays(NamedTuple):
    """The edges of a graph: source < target, and their weights, all [edges]."""

    source: npt.NDArray[np.int16]
    target: npt.NDArray[np.int16]
    weight: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Split:
    """The examples of a split: a sequence that reads a row group of its shards at a time."""

    name: str
    _groups: list[RowGroup] = field(repr=False)

    def __len__(self) -> int:
        return sum(group.rows for group in self._groups)

    def __iter__(self) -> Iterator[Example]:
        for group in self._groups:
            for row in read_group(group, EXAMPLE.names).to_pylist():
                yield example_from_row(row)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        rest = index + len(self) if index < 0 else index
        for group in self._groups if rest >= 0 else ():
            if rest < group.rows:
                table = read_group(group, EXAMPLE.names)
                return example_from_row(table.slice(rest, 1).to_pylist()[0])
            rest -= group.rows
        raise IndexError(f"{self.name} has {len(self)} examples, not {index}")

    def frame(self, columns: Sequence[str] = ("id", "title", "url", "lead")) -> "pandas.DataFrame":
        """Return columns of the examples as a data frame; `paragraphs.text` goes into a list.

        Needs pandas.
        """
        import pandas as pd

        names = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        tables = [read_group(group, columns).select(names) for group in self._groups]
        if not tables:
            return pd.DataFrame(columns=names)
        return pd.concat([table.to_pandas() for table in tables], ignore_index=True)


@dataclass(frozen=True)
class Dataset:
    """A dataset in a folder: its splits by name, its vocabulary.

        data = open_dataset("out")
        example = data["train"][0]
        print(example.title, len(example.paragraphs))

    Iterating yields the examples of all splits.
    """

    folder: str

    @cached_property
    def splits(self) -> dict[str, Split]:
        """The splits that have shards, by name."""
        found = {}
        for name in SPLITS:
            try:
                found[name] = Split(name, row_groups(split_shards(self.folder, name)))
            except FileNotFoundError:
                continue
        return found

    def __getitem__(self, split: str) -> Split:
        if split not in self.splits:
            raise KeyError(f"no split {split!r} in {self.folder}: {', '.join(self.splits)}")
        return self.splits[split]

    def __iter__(self) -> Iterator[Example]:
        for split in self.splits.values():
            yield from split

    def __len__(self) -> int:
        return sum(len(split) for split in self.splits.values())

    def vocab(self) -> "sentencepiece.SentencePieceProcessor":
        """Return the subword vocabulary. Raises FileNotFoundError if the dataset has none."""
        from wikisum.ranker.data.vocab import load_model

        return load_model(find_vocab(self.folder), f"the vocabulary of {self.folder}")

    def table(self, name: str) -> Any:
        """Return another table, such as `articles` or `dropped`, as a `pyarrow.dataset.Dataset`.

        Raises FileNotFoundError if the dataset does not have it.
        """
        import pyarrow.dataset as ds

        filesystem, root = open_folder(self.folder)
        return ds.dataset(f"{root}/{name}", filesystem=filesystem, format="parquet")


def open_dataset(folder: Any) -> Dataset:
    """Return the dataset in a folder: the output of a build or an import, here or remote.

    Raises FileNotFoundError if there are no shards in it.
    """
    dataset = Dataset(str(folder))
    if not dataset.splits:
        split_shards(dataset.folder, SPLITS[0])
    return dataset


def edges(example: Example, kind: str = "similarity") -> EdgeArrays:
    """Return a graph of an example as arrays; `kind` is `similarity` or `discourse`.

    Raises ValueError for another kind, or if the example does not have that graph.
    """
    if kind not in GRAPHS:
        raise ValueError(f"no graph {kind!r}: one of {', '.join(GRAPHS)}")
    stored = example.similarity_graph if kind == "similarity" else example.discourse_graph
    if stored is None:
        raise ValueError(f"example {example.id} has no {kind} graph")
    return EdgeArrays(
        np.array(stored["source"], np.int16),
        np.array(stored["target"], np.int16),
        np.array(stored["weight"], np.float32),
    )


def graph(example: Example, kind: str = "similarity") -> "networkx.Graph":
    """Return a graph of an example for networkx: a node per paragraph with `text` and `score`.

    Needs networkx. Raises ValueError as `edges`.
    """
    import networkx as nx

    found = nx.Graph()
    for number, paragraph in enumerate(example.paragraphs):
        found.add_node(number, text=paragraph.text, score=paragraph.score)
    found.add_weighted_edges_from(zip(*(c.tolist() for c in edges(example, kind)), strict=True))
    return found
