"""Example shards -> the same examples, their paragraphs ranked again and cut."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_tables
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.order import page_order, reranked
from wikisum.pipeline.records import EXAMPLE, Example, example_from_row
from wikisum.pipeline.rerank.settings import RankSettings
from wikisum.ranker.data.check import Fault, table_fault
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.rank import method_scores

STAGE = "rank"
SETTINGS_KEY = "wikisum.settings"


def read_examples(path: str) -> Iterator[Example]:
    """Yield the examples of a shard, which another program may have written.

    Raises BadFile naming the file, and the row if it is the fault of one.
    """
    first = 0
    try:
        for table in read_tables(path):
            rows = _examples_table(path, table, first).to_pylist()
            for number, row in enumerate(rows, first):
                try:
                    example = example_from_row(row)
                except TypeError as error:
                    text = "holds a section or a document that is null"
                    raise BadFile(f"{path}: row {number}: {text}") from error
                yield example
            first += len(rows)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        raise BadFile(f"{path}: {str(error).splitlines()[0]}") from error


def _examples_table(path: str, table: pa.Table, first: int) -> pa.Table:
    """The table with the columns and types of examples; its first row is row `first`."""
    if missing := [name for name in EXAMPLE.names if name not in table.column_names]:
        raise BadFile(f"{path} has no column {missing[0]}")
    columns = {}
    for name in EXAMPLE.names:
        try:
            columns[name] = table[name].cast(EXAMPLE.field(name).type)
        except pa.ArrowException as error:
            text = f"{name} is of the type {table[name].type}, not {EXAMPLE.field(name).type}"
            raise BadFile(f"{path}: {text}") from error
    cast = pa.table(columns, schema=EXAMPLE).combine_chunks()
    cast.validate(full=True)  # also that texts are UTF-8
    fault: Fault | None = table_fault(cast)
    for name in ("url", "sections", "documents"):
        if fault is None and cast[name].null_count:
            fault = Fault(cast[name].is_null().index(True).as_py(), f"{name} is null")
    if fault is not None:
        row = "" if fault.row is None else f" row {first + fault.row}:"
        raise BadFile(f"{path}:{row} {fault.text}")
    return cast


def scores_by_method(example: Example, method: str, seed: int) -> list[float]:
    """Return the score of each paragraph by a method, which sees them in the order of the pages."""
    order = page_order(example)
    texts = [example.paragraphs[i].text for i in order]
    scores = [0.0] * len(order)
    ranked = method_scores(method, example.title, texts, example.lead, seed)
    for index, score in zip(order, ranked, strict=True):
        scores[index] = score
    return scores


@dataclass(frozen=True)
class WriteRanked:
    """A shard and the scores of each of its examples -> the shard of that name."""

    writer: StageWriter
    settings: RankSettings

    def __call__(
        self, index: int, path: str, scores_of: Callable[[Example], Sequence[float]]
    ) -> PartResult:
        """Write the shard; `scores_of` is called for the examples in their order."""
        metadata = _metadata(path, asdict(self.settings))
        with self.writer.part_like(index, path, metadata) as part:
            for example in read_examples(path):
                best = reranked(example, scores_of(example), self.settings.max_paragraphs)
                part.write(best)
                part.counts["paragraphs_in"] += len(example.paragraphs)
                part.counts["paragraphs_out"] += len(best.paragraphs)
                part.counts["paragraphs_cut"] += len(example.paragraphs) - len(best.paragraphs)
                part.ticker.add(items=1, work=1)
        return part.result()


def _metadata(path: str, origin: dict[str, Any]) -> dict[str, str]:
    """The metadata of the source shard, with the settings of the ranking added."""
    with files.open_input(path) as raw:
        old = pq.ParquetFile(raw).schema_arrow.metadata or {}
    try:
        plain = {key.decode(): value.decode() for key, value in old.items()}
        settings = json.loads(plain.get(SETTINGS_KEY, "{}"))
        settings["rank"] = origin
    except (ValueError, TypeError, RecursionError) as error:
        raise BadFile(f"{path}: its metadata {SETTINGS_KEY} is not a JSON object") from error
    return {**plain, SETTINGS_KEY: json.dumps(settings, sort_keys=True)}


@dataclass(frozen=True)
class RankShard:
    """A shard -> the same ranked by a method that needs no model."""

    write: WriteRanked

    def __call__(self, index: int, path: str) -> PartResult:
        settings = self.write.settings
        return self.write(
            index, path, lambda e: scores_by_method(e, settings.method, settings.seed)
        )
