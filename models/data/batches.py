"""Shards -> batches: row groups are read when they are needed, and a few are kept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from wikisum.graphs.adjacency import adjacency
from wikisum.graphs.edges import Edges
from wikisum.models.network.packing import Batch, pack
from wikisum.models.settings.run import ARTICLE, SourceSettings
from wikisum.models.sources import Examples, Ids
from wikisum.models.table import spec_of
from wikisum.models.targets import Heading, article_ids
from wikisum.models.vocabulary.run_vocabulary import TEXT_COLUMNS, Vocabulary
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.ragged import Ints, concatenated_ids, from_arrow, ragged
from wikisum.ranker.data.shards import RowGroup, Shard, read_group, row_groups
from wikisum.ranker.data.vocab import BEGIN, END, PAD
from wikisum.ranker.training.plan import Lengths
from wikisum.ranker.training.reader import GroupReader

_IDS = ("title_ids", "lead_ids", "paragraph_ids")
_COUNTED = ("paragraphs.document",)  # shows how many paragraphs there are, at little cost
_SECTIONS = "sections"


class _Graphs(NamedTuple):
    """The edges of some examples, concatenated; those of example e begin at `starts[e]`."""

    starts: Ints
    columns: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16], npt.NDArray[np.float32]]

    def adjacency(self, example: int, size: int) -> npt.NDArray[np.float32]:
        """Return the normalized adjacency of an example's first paragraphs, [size, size]."""
        part = slice(self.starts[example], self.starts[example + 1])
        kept = self.columns[1][part] < size
        return adjacency(Edges(*(column[part][kept].tolist() for column in self.columns)), size)


class _Group(NamedTuple):
    examples: Examples
    graphs: _Graphs | None


def collate(
    sources: Sequence[Sequence[Ids]],
    targets: Sequence[Ids],
    numbers: Sequence[int],
    graphs: Sequence[npt.NDArray[np.float32]] | None = None,
) -> Batch:
    """Return the batch of some examples; `graphs` holds an adjacency matrix per example."""
    S = max(map(len, targets)) + 1
    read, label = (np.full((len(targets), S), PAD, dtype=np.int64) for _ in range(2))
    read[:, 0] = BEGIN
    for row, ids in enumerate(targets):
        read[row, 1 : len(ids) + 1] = ids
        label[row, : len(ids)] = ids
        label[row, len(ids)] = END
    arrays = read, label, np.flatnonzero(label != PAD), np.asarray(numbers, dtype=np.int64)
    return Batch(pack(sources, graphs), *[torch.from_numpy(a) for a in arrays])


class SplitReader(GroupReader[_Group, Batch]):
    """The examples of a split by number, as one model reads them; `model` is its settings.

    Shards hold the subwords of leads. Whole articles, words, and targets that the model changes
    need the run's `vocabulary`. Raises ValueError naming the shard if it has no subword ids, ids of
    another vocabulary, or not the graph that the model needs.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        model: Any,
        source: SourceSettings,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__(row_groups(shards))
        if not self.groups:
            raise ValueError(f"{shards[0]} and the other shards of its split hold no example")
        self.model, self.source, self.spec = model, source, spec_of(model)
        self.vocabulary, self.reads_text = vocabulary, self.spec.reads_text(model)
        if source.target == ARTICLE and vocabulary is None:
            raise ValueError("whole articles need a vocabulary, which encodes their sections")
        if self.reads_text and source.target == ARTICLE:
            raise ValueError("--target article needs the subwords of the dataset")
        if self.reads_text and (vocabulary is None or isinstance(vocabulary, Subwords)):
            raise ValueError("the model reads text: the reader needs the run's vocabulary")

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "spec": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = {**state, "spec": spec_of(state["model"])}

    def identity(self) -> list[Any]:
        decisive: list[Any] = [self.spec.name, list(vars(self.source).values())]
        if self.source.target == ARTICLE and self.vocabulary is not None:
            decisive.append(self.vocabulary.fingerprint())
        return decisive

    def lengths_of(self, number: int) -> Lengths:
        """Return the lengths of the examples of a row group.

        A model that joins source and target reads the target on the source side too.
        """
        group = self.groups[number]
        examples = self._read(group, with_graph=False).examples
        source = self.spec.source.lengths(examples, self.source)
        target = np.minimum(examples.targets.lengths, self.source.target_tokens) + 1
        joined = source + target if self.spec.joined else source
        return Lengths(joined, target, np.array([group.rows]))

    def batch(self, numbers: Ints, given: Sequence[Any] | None = None) -> Batch:
        """Return the batch of these examples; `given` targets take the place of their own."""
        sources, targets, graphs = [], [], []
        for index, number in enumerate(numbers.tolist()):
            group, row = self.find(number)
            examples = group.examples
            title, paragraphs = examples.title(row), examples.paragraphs_of(row)
            source = self.spec.source.read(title, paragraphs, self.source)
            sources.append(source)
            whole = examples.target(row) if given is None else given[index]
            target = whole[: self.source.target_tokens]
            targets.append(self.spec.target(self.model, source, target, self.vocabulary))
            if group.graphs is not None:
                graphs.append(group.graphs.adjacency(row, len(source)))
        return collate(sources, targets, numbers.tolist(), graphs or None)

    def read(self, group: RowGroup) -> _Group:
        """Return what the model reads of a row group."""
        return self._read(group)

    def _read(self, group: RowGroup, with_graph: bool = True) -> _Group:
        graph = self.spec.graph(self.model) if with_graph else "none"
        graphs = [] if graph == "none" else [f"{graph}_graph"]
        with_sections = [_SECTIONS] if self.source.target == ARTICLE else []
        texts = TEXT_COLUMNS if self.reads_text else _IDS
        size = None if self.reads_text else self.model.vocab_size
        table = read_group(group, [*texts, *_COUNTED, *graphs, *with_sections], size)
        for name in table.column_names:
            if table[name].null_count:
                command = "tokenize" if name in _IDS else "examples"
                raise ValueError(
                    f"{group.shard} has rows without {name}: run `wikisum {command}` first"
                )
        found = self._text_examples(table) if self.reads_text else _examples(table)
        examples = self._with_targets(found, table)
        trimmed = self.spec.source.trim(examples, self.source)
        edges = [_graphs(table[name].chunk(0), self.source.max_paragraphs) for name in graphs]
        return _Group(trimmed, edges[0] if edges else None)

    def _with_targets(self, examples: Examples, table: pa.Table) -> Examples:
        """Return the examples with whole articles as targets, if the model learns those."""
        if self.source.target != ARTICLE or self.vocabulary is None:
            return examples
        articles = [
            article_ids(
                examples.target(row).tolist(),
                [(Heading(s["title"], s["level"]), s["text"]) for s in sections],
                self.vocabulary.encode_texts,
                self.source.article_tokens,
            )
            for row, sections in enumerate(table[_SECTIONS].to_pylist())
        ]
        return examples._replace(targets=ragged(articles))

    def _text_examples(self, table: pa.Table) -> Examples:
        """Return the examples of a row group, their texts encoded by the run's vocabulary."""
        assert self.vocabulary is not None
        assert not isinstance(self.vocabulary, Subwords)
        rows = [
            self.vocabulary.encode_example(
                row["title"], [p["text"] for p in row["paragraphs"]], row["lead"],
                self.source.source_tokens,
            )
            for row in table.to_pylist()
        ]  # fmt: skip
        titles, paragraphs, leads = zip(*rows, strict=True)
        count = np.array([len(texts) for texts in paragraphs], dtype=np.int64)
        flat = [ids for texts in paragraphs for ids in texts]
        lists = [concatenated_ids(ids) for ids in (titles, leads, flat)]
        return Examples(lists[0], lists[1], lists[2], np.cumsum(count) - count, count)


def _examples(table: pa.Table) -> Examples:
    """Return the ids of a row group's examples; their targets are the leads."""
    titles, leads, paragraphs = (table[name].chunk(0) for name in _IDS)
    count = np.asarray(paragraphs.value_lengths(), dtype=np.int64)
    first = np.cumsum(count) - count
    return Examples(
        from_arrow(titles), from_arrow(leads), from_arrow(paragraphs.flatten()), first, count
    )


def _graphs(graphs: pa.StructArray, max_paragraphs: int) -> _Graphs:
    """Return the edges among the first paragraphs; edges go from lower to higher ones."""
    lists = [graphs.field(name) for name in Edges._fields]
    lengths = np.asarray(lists[0].value_lengths())
    source, target, weight = (np.asarray(column.flatten()) for column in lists)
    kept = target < max_paragraphs
    owner = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.cumsum(np.bincount(owner[kept], minlength=len(lengths)))
    return _Graphs(np.append(0, ends), (source[kept], target[kept], weight[kept]))
