"""Shards -> batches: row groups are read as they are needed, a few at a time."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor

from graphs.adjacency import adjacency
from graphs.edges import Edges
from models.configs import ModelSettings, SourceSettings
from models.packing import Source, pack
from models.plan import LANES, POOL_ROWS, Lengths
from models.sources import Examples, Ids, source_lengths, source_of
from ranker.ragged import Ints, from_arrow
from ranker.shards import RowGroup, Shard, read_group, row_groups
from ranker.vocab import BEGIN, END, PAD

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

    def pin_memory(self) -> "Batch":
        """The same in memory that a GPU copies from without waiting."""
        source = Source(*[None if t is None else t.pin_memory() for t in self.source])  # type: ignore[arg-type]
        return Batch(source, *[t.pin_memory() for t in self[1:]])


class _Group(NamedTuple):
    examples: Examples
    graphs: list[Edges] | None


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

    Keeps the row groups last used, as many as the lanes of a training run need. Goes to worker
    processes without them. Raises ValueError naming the shard for one without subword ids, or
    without the graph that the model needs.
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
        self._kept = LANES * (2 + POOL_ROWS // int(rows.min()))
        self._cache: OrderedDict[int, _Group] = OrderedDict()

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_cache": OrderedDict()}

    def lengths(self, cache: Path | None = None) -> Lengths:
        """What a batch plan needs: one pass over the ids, kept in `cache` for the next time."""
        key = self._key()
        if cache is not None and cache.is_file():
            with np.load(cache) as kept:
                if str(kept["key"]) == key:
                    return Lengths(kept["source"], kept["target"], kept["group_rows"])
        sources, targets = [], []
        for group in self.groups:
            examples = _read(group, None).examples
            sources.append(source_lengths(examples, self.model.model, self.source))
            targets.append(np.minimum(examples.leads.lengths, self.source.lead_tokens) + 1)
        rows = np.array([group.rows for group in self.groups])
        found = Lengths(np.concatenate(sources), np.concatenate(targets), rows)
        if cache is not None:
            beside = cache.with_name(f".{cache.name}")
            np.savez(beside, key=np.array(key), **found._asdict())
            beside.replace(cache)
        return found

    def _key(self) -> str:
        """Stands for the shards and the cut."""
        files = [[g.shard.path, g.number, g.rows] for g in self.groups]
        sizes = [g.shard.filesystem.get_file_info(g.shard.path).size for g in self.groups]
        about = [files, sizes, self.model.model, list(vars(self.source).values())]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def batch(self, numbers: Ints) -> Batch:
        """The batch of these examples."""
        sources, leads, graphs = [], [], []
        for number in numbers.tolist():
            group, row = self._find(number)
            source = self._source(group.examples, row)
            sources.append(source)
            leads.append(group.examples.lead(row)[: self.source.lead_tokens])
            if group.graphs is not None:
                graphs.append(_graph(group.graphs[row], len(source)))
        return collate(sources, leads, numbers.tolist(), graphs or None)

    def _source(self, examples: Examples, row: int) -> list[Ids]:
        at_most = self.source.source_tokens if self.model.model == "ft" else 0
        paragraphs = examples.paragraphs_of(row, at_most or self.source.max_paragraphs)
        return source_of(examples.title(row), paragraphs, self.model.model, self.source)

    def _find(self, number: int) -> tuple[_Group, int]:
        index = int(np.searchsorted(self._ends, number, side="right"))
        if index not in self._cache:
            while len(self._cache) >= self._kept:
                self._cache.popitem(last=False)
            graph = None if self.model.graph == "none" else f"{self.model.graph}_graph"
            self._cache[index] = _read(self.groups[index], graph)
        self._cache.move_to_end(index)
        first = int(self._ends[index]) - self.groups[index].rows
        return self._cache[index], number - first


def _graph(edges: Edges, size: int) -> npt.NDArray[np.float32]:
    """[size, size] the adjacency among the paragraphs that were kept."""
    kept = [e for e in zip(*edges, strict=True) if e[1] < size]
    columns = [list(column) for column in zip(*kept, strict=True)] if kept else [[], [], []]
    return adjacency(Edges(*columns), size)


def _read(group: RowGroup, graph: str | None) -> _Group:
    table = read_group(group, [*_IDS, *([graph] if graph else [])])
    for name in table.column_names:
        if table[name].null_count:
            command = "tokenize" if name in _IDS else "examples"
            raise ValueError(
                f"{group.shard} has rows without {name}: run `wikisum {command}` first"
            )
    titles, leads, paragraphs = (table[name].chunk(0) for name in _IDS)
    count = np.asarray(paragraphs.value_lengths(), dtype=np.int64)
    examples = Examples(
        from_arrow(titles),
        from_arrow(leads),
        from_arrow(paragraphs.flatten()),
        np.cumsum(count) - count,
        count,
    )
    return _Group(examples, _edges(table[graph].chunk(0)) if graph else None)


def _edges(graphs: pa.StructArray) -> list[Edges]:
    return [Edges(**row) for row in graphs.to_pylist()]
