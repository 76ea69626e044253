"""Shards -> batches: row groups are read as they are needed, a few at a time."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor

from wikisum.graphs.adjacency import adjacency
from wikisum.graphs.edges import Edges
from wikisum.models.configs import ModelSettings, SourceSettings
from wikisum.models.data.plan import LANES, POOL_ROWS, Lengths
from wikisum.models.data.sources import Examples, Ids, readable, source_lengths, source_of
from wikisum.models.network.packing import Source, pack
from wikisum.ranker.data.ragged import Ints, from_arrow
from wikisum.ranker.data.shards import RowGroup, Shard, read_group, row_groups
from wikisum.ranker.data.vocab import BEGIN, END, PAD

_IDS = ("title_ids", "lead_ids", "paragraph_ids")


class Batch(NamedTuple):
    """B examples: `target_BS` is begin and lead, `label_BS` lead and end, both padded with 0.

    `label_slot_Y` are the places of the Y real labels in [B, S] laid flat; `example_B` numbers
    the examples in their split.
    """

    source: Source
    target_BS: Tensor
    label_BS: Tensor
    label_slot_Y: Tensor
    example_B: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same on a device."""
        rest = [t.to(device, non_blocking=True) for t in self[1:]]
        return Batch(self.source.to(device), *rest)


class _Graphs(NamedTuple):
    """The edges of some examples, one list after the other."""

    starts: Ints
    columns: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.float32]]

    def adjacency(self, example: int, size: int) -> npt.NDArray[np.float32]:
        """[size, size] the normalised adjacency among the first paragraphs of an example."""
        part = slice(self.starts[example], self.starts[example + 1])
        kept = self.columns[1][part] < size
        return adjacency(Edges(*(column[part][kept].tolist() for column in self.columns)), size)


class _Group(NamedTuple):
    examples: Examples
    graphs: _Graphs | None


def collate(
    sources: Sequence[Sequence[Ids]],
    leads: Sequence[Ids],
    numbers: Sequence[int],
    graphs: Sequence[npt.NDArray[np.float32]] | None = None,
) -> Batch:
    """The batch of some examples."""
    S = max(len(lead) for lead in leads) + 1
    target, label = (np.full((len(leads), S), PAD, dtype=np.int64) for _ in range(2))
    target[:, 0] = BEGIN
    for row, lead in enumerate(leads):
        target[row, 1 : len(lead) + 1] = lead
        label[row, : len(lead)] = lead
        label[row, len(lead)] = END
    arrays = target, label, np.flatnonzero(label != PAD), np.asarray(numbers, dtype=np.int64)
    return Batch(pack(sources, graphs), *[torch.from_numpy(a) for a in arrays])


class SplitReader:
    """The examples of a split, by number, as one model reads them.

    Keeps the row groups last used, as many as the lanes of a training run need, and of each only
    what the model reads. Goes to worker processes without them. Raises ValueError naming the shard
    for one without subword ids, with ids of another vocabulary, or without the graph that the model
    needs.
    """

    def __init__(
        self, shards: Sequence[Shard], model: ModelSettings, source: SourceSettings
    ) -> None:
        self.groups = row_groups(shards)
        if not self.groups:
            raise ValueError(f"{shards[0]} and the others of its split hold no example")
        self.model, self.source = model, source
        rows = np.array([group.rows for group in self.groups])
        self._ends = np.cumsum(rows)
        self._most_rows = LANES * (POOL_ROWS + int(rows.max()))
        self._cache: OrderedDict[int, _Group] = OrderedDict()
        self._cached_rows = 0

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_cache": OrderedDict(), "_cached_rows": 0}

    def lengths(self) -> Lengths:
        """What a batch plan needs; one pass over the ids."""
        parts = zip(*(self.lengths_of(number) for number in range(len(self.groups))), strict=True)
        return Lengths(*map(np.concatenate, parts))

    def lengths_of(self, number: int) -> Lengths:
        """The lengths of the examples of a row group."""
        group = self.groups[number]
        examples = _read(group, self.model, self.source, with_graph=False).examples
        return Lengths(
            source_lengths(examples, self.model.model, self.source),
            np.minimum(examples.leads.lengths, self.source.lead_tokens) + 1,
            np.array([group.rows]),
        )

    def batch(self, numbers: Ints) -> Batch:
        """The batch of these examples."""
        sources, leads, graphs = [], [], []
        for number in numbers.tolist():
            group, row = self._find(number)
            examples = group.examples
            source = source_of(
                examples.title(row), examples.paragraphs_of(row), self.model.model, self.source
            )
            sources.append(source)
            leads.append(examples.lead(row)[: self.source.lead_tokens])
            if group.graphs is not None:
                graphs.append(group.graphs.adjacency(row, len(source)))
        return collate(sources, leads, numbers.tolist(), graphs or None)

    def _find(self, number: int) -> tuple[_Group, int]:
        index = int(np.searchsorted(self._ends, number, side="right"))
        if index not in self._cache:
            self._cached_rows += self.groups[index].rows
            while self._cached_rows > self._most_rows:
                gone, _ = self._cache.popitem(last=False)
                self._cached_rows -= self.groups[gone].rows
            self._cache[index] = _read(self.groups[index], self.model, self.source)
        self._cache.move_to_end(index)
        first = int(self._ends[index]) - self.groups[index].rows
        return self._cache[index], number - first


def _read(
    group: RowGroup, model: ModelSettings, source: SourceSettings, with_graph: bool = True
) -> _Group:
    graph = [] if model.graph == "none" or not with_graph else [f"{model.graph}_graph"]
    table = read_group(group, [*_IDS, *graph])
    for name in table.column_names:
        if table[name].null_count:
            command = "tokenize" if name in _IDS else "examples"
            raise ValueError(
                f"{group.shard} has rows without {name}: run `wikisum {command}` first"
            )
    titles, leads, paragraphs = (table[name].chunk(0) for name in _IDS)
    count = np.asarray(paragraphs.value_lengths(), dtype=np.int64)
    first = np.cumsum(count) - count
    whole = Examples(
        from_arrow(titles), from_arrow(leads), from_arrow(paragraphs.flatten()), first, count
    )
    largest = max(int(part.ids.max(initial=0)) for part in whole[:3])
    if largest >= model.vocab_size:
        raise ValueError(
            f"{group.shard} has the subword {largest:,}, but the vocabulary has only "
            f"{model.vocab_size:,}"
        )
    examples = readable(whole, model.model, source)
    if not graph:
        return _Group(examples, None)
    return _Group(examples, _graphs(table[graph[0]].chunk(0), source.max_paragraphs))


def _graphs(graphs: pa.StructArray, max_paragraphs: int) -> _Graphs:
    """The edges among the first paragraphs; edges go from lower to higher."""
    lists = [graphs.field(name) for name in Edges._fields]
    lengths = np.asarray(lists[0].value_lengths())
    source, target, weight = (np.asarray(column.flatten()) for column in lists)
    kept = target < max_paragraphs
    owner = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.cumsum(np.bincount(owner[kept], minlength=len(lengths)))
    return _Graphs(np.append(0, ends), (source[kept], target[kept], weight[kept]))
