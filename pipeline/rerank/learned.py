"""Paragraph scores of the learned ranker: a Beam transform, and the stage that ranks shards anew.

`InferScores` works in any pipeline::

    chunk = [("Tavin Bridge", ["The bridge was opened in 1881.", "Sheep crossed the river."])]
    scored = pipeline | beam.Create([("key", chunk)]) | InferScores("runs/ranker")
    scored | beam.Map(print)  # ("key", [[0.21, 0.04]])

Only scores are shuffled: each shard is read once to score its paragraphs and once more to write
them in their new order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apache_beam as beam
from apache_beam.ml.inference.base import KeyedModelHandler, ModelHandler, RunInference

from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.transforms import ReadFiles, RowType, WriteParts
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.examples.ranker_run import local_run
from wikisum.pipeline.records import Example
from wikisum.pipeline.rerank.shard import STAGE, WriteRanked, read_examples
from wikisum.ranker.data.errors import BadFile

if TYPE_CHECKING:
    from wikisum.ranker.learned.score import Scorer

ARTICLES_PER_CHUNK = 64

Key = tuple[int, int]  # the part and the chunk's number in its shard
Chunk = list[tuple[Any, Any]]  # (title, paragraphs) of each article, as texts or as ids
Scores = list[list[float]]


class ScoreChunks(ModelHandler[Chunk, Scores, "Scorer"]):
    """Scores chunks of articles, one call per chunk, however Beam batches them.

    The articles of a chunk are batched together by length. Chunks are always the same, so scores
    are too, to the last bit, on any worker.
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


class ScoredChunk(NamedTuple):
    """The scores of each article of a chunk, one per paragraph; `number` counts the chunks."""

    number: int
    scores: Scores


class InferScores(beam.PTransform):
    """Score chunks of articles with the learned ranker of a training run.

    PCollection[tuple[K, Chunk]] -> PCollection[tuple[K, Scores]], for keys K of any kind. `run` is
    the folder of the run; `are_ids` says that the chunks hold ids of its vocabulary, not texts.
    """

    def __init__(self, run: str, *, device: str = "cpu", are_ids: bool = False) -> None:
        super().__init__()
        self._scorer = ScoreChunks(run, device, are_ids)

    def expand(self, chunks: Any) -> Any:
        handler: Any = KeyedModelHandler(self._scorer)
        return chunks | RunInference(handler)


@dataclass(frozen=True, kw_only=True)
class RankShards:
    """Example shards -> the same ranked by the run in `run`, recorded as parts.

    `are_ids` says that the run's vocabulary is the dataset's, so its ids are used.
    """

    paths: list[str]
    run: str
    device: str
    are_ids: bool
    write: WriteRanked
    ticker: Ticker

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        chunks = pipeline | "Chunks" >> ReadFiles(pending, read=self._chunks)
        scores = chunks | "Score" >> InferScores(self.run, device=self.device, are_ids=self.are_ids)
        _ = {"scores": scores | "Parts" >> beam.Map(self._with_part)} | WriteParts(
            {"scores": RowType(ScoredChunk, lambda chunk: chunk.number)},
            stage=STAGE,
            indexes=pending,
            write=self._write,
            parts=parts,
        )

    def _chunks(self, index: int) -> Iterator[tuple[Key, Chunk]]:
        articles = map(self._article, read_examples(self.paths[index]))
        number = 0
        while chunk := list(islice(articles, ARTICLES_PER_CHUNK)):
            yield (index, number), chunk
            number += 1

    def _article(self, example: Example) -> tuple[Any, Any]:
        if not self.are_ids:
            return example.title, [paragraph.text for paragraph in example.paragraphs]
        if example.title_ids is None or example.paragraph_ids is None:
            raise BadFile(f"the example {example.id} has no subword ids, unlike others")
        return example.title_ids, example.paragraph_ids

    def _with_part(self, element: tuple[Key, Scores]) -> tuple[int, ScoredChunk]:
        (index, number), scores = element
        self.ticker.add(items=len(scores), work=len(scores))
        return index, ScoredChunk(number, scores)

    def _write(self, index: int, rows: dict[str, Iterator[ScoredChunk]]) -> PartResult:
        in_order = (scores for chunk in rows["scores"] for scores in chunk.scores)
        return self.write(index, self.paths[index], lambda example: next(in_order))
