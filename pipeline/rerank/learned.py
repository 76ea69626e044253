"""Example shards -> the same ranked by the learned ranker, through Beam's RunInference.

What is shuffled is scores alone: each shard is read once to score its paragraphs and once more to
write them in their new order.
"""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apache_beam as beam
from apache_beam.ml.inference.base import KeyedModelHandler, ModelHandler, RunInference

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.run import count
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.rerank.shard import WriteRanked

if TYPE_CHECKING:
    from wikisum.ranker.learned.score import Scorer

STAGE = "rank"
VOCAB_FILE = "vocab.model"
MODEL_FILES = ("best.pt", VOCAB_FILE)  # what a run is loaded from; `ranker.runs` would load torch
CHUNK_ARTICLES = 64

Key = tuple[int, int]  # the part and the chunk's number in its shard
Chunk = list[tuple[Any, Any]]  # (title, paragraphs) an article, as texts or as ids
Scores = list[list[float]]


@contextlib.contextmanager
def local_run(folder: str) -> Iterator[Path]:
    """The folder of a run on this machine, a copy if it is not here."""
    if not files.is_remote(folder):
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory() as copy:
        for name in MODEL_FILES:
            with files.open_input(files.join(folder, name)) as raw:
                Path(copy, name).write_bytes(raw.read())
        yield Path(copy)


class ScoreChunks(ModelHandler[Chunk, Scores, "Scorer"]):
    """Scores chunks of articles, one call a chunk, whatever Beam groups.

    A chunk's articles are batched together by length. Since chunks are always the same, so are
    scores to the last bit, in whichever worker.
    """

    def __init__(self, run: str, device: str, are_ids: bool) -> None:
        super().__init__(min_batch_size=1, max_batch_size=1)
        self._run, self._device, self._are_ids = run, device, are_ids

    def load_model(self) -> "Scorer":
        from wikisum.ranker.learned.score import Scorer

        with local_run(self._run) as folder:
            return Scorer.load(folder, self._device, threads=1)  # workers share the cores

    def run_inference(
        self, batch: Sequence[Chunk], model: "Scorer", inference_args: dict[str, Any] | None = None
    ) -> list[Scores]:
        score = model.score_ids if self._are_ids else model.score_articles
        return [score(chunk) for chunk in batch]

    def get_num_bytes(self, batch: Sequence[Chunk]) -> int:
        return sum(len(text) for chunk in batch for _, texts in chunk for text in texts)

    def get_metrics_namespace(self) -> str:
        return STAGE


@dataclass(frozen=True)
class InferScores:
    """Paths of shards -> their parts, ranked by the run in `run`.

    `are_ids` says that the run's vocabulary is the dataset's, whose ids are then taken.
    """

    paths: list[str]
    run: str
    device: str
    are_ids: bool
    write: WriteRanked
    ticker: Ticker

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        handler: Any = KeyedModelHandler(ScoreChunks(self.run, self.device, self.are_ids))
        scores = (
            pipeline
            | "Shards" >> beam.Create(pending, reshuffle=False)
            | "Spread" >> beam.Reshuffle()
            | "Read chunks" >> beam.FlatMap(self._chunks)
            | "Score" >> RunInference(handler)
            | "Keep scores" >> beam.Map(self._kept)
        )
        every: Any = pipeline | "Every part" >> beam.Create([(i, (-1, [])) for i in pending])
        _ = (
            (scores, every)
            | beam.Flatten()
            | "By shard" >> beam.GroupByKey()
            | "Write" >> beam.Map(self._written, parts)
        )

    def _chunks(self, index: int) -> Iterator[tuple[Key, Chunk]]:
        columns = ["title_ids", "paragraph_ids"] if self.are_ids else ["title", "paragraphs"]
        rows = read_rows(self.paths[index], columns)
        number = 0
        while some := list(islice(rows, CHUNK_ARTICLES)):
            yield (index, number), [self._article(row) for row in some]
            number += 1

    def _article(self, row: dict[str, Any]) -> tuple[Any, Any]:
        if self.are_ids:
            return row["title_ids"], row["paragraph_ids"]
        return row["title"], [p["text"] for p in row["paragraphs"]]

    def _kept(self, element: tuple[Key, Scores]) -> tuple[int, tuple[int, Scores]]:
        (index, number), scores = element
        self.ticker.add(items=len(scores), work=len(scores))
        return index, (number, scores)

    def _written(self, element: tuple[int, Iterable[tuple[int, Scores]]], parts: Parts) -> None:
        index, chunks = element
        in_order = iter([scores for _, some in sorted(chunks) for scores in some])
        result = self.write(index, self.paths[index], lambda example: next(in_order))
        parts.record(index, result)
        count(STAGE, result.counts)
