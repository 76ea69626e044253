"""Example shards -> the same examples, their paragraphs ranked again and cut."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow.parquet as pq

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.order import page_order, reranked
from wikisum.pipeline.records import Example, example_from_row
from wikisum.pipeline.rerank.settings import RankSettings
from wikisum.ranker.rank import method_scores

SETTINGS_KEY = "wikisum.settings"


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
            for row in read_rows(path):
                example = example_from_row(row)
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
    plain = {key.decode(): value.decode() for key, value in old.items()}
    settings = json.loads(plain.get(SETTINGS_KEY, "{}"))
    return {**plain, SETTINGS_KEY: json.dumps({**settings, "rank": origin}, sort_keys=True)}


@dataclass(frozen=True)
class RankShard:
    """A shard -> the same ranked by a method that needs no model."""

    write: WriteRanked

    def __call__(self, index: int, path: str) -> PartResult:
        settings = self.write.settings
        return self.write(
            index, path, lambda e: scores_by_method(e, settings.method, settings.seed)
        )
