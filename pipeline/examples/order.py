"""Examples -> the same in the order of new scores of their paragraphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from wikisum.graphs.edges import Edges, permute
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.ranker_run import local_run
from wikisum.pipeline.records import Example, example_from_row

if TYPE_CHECKING:
    from wikisum.ranker.learned.score import Scorer

EXAMPLES_PER_CHUNK = 64
Graph = dict[str, list[Any]] | None


def page_order(example: Example) -> list[int]:
    """Return the indexes of the paragraphs in the order of the example's pages."""
    places = [(p.document, p.position) for p in example.paragraphs]
    return sorted(range(len(places)), key=places.__getitem__)


def reranked(example: Example, scores: Sequence[float], max_paragraphs: int | None) -> Example:
    """Return the example with its best paragraphs by `scores`, one per paragraph, highest first.

    Ties keep the order of the pages. Graphs and ids follow the paragraphs; documents stay, so that
    no reference is lost. Raises ValueError if the number of scores is not that of the paragraphs.
    """
    if len(scores) != len(example.paragraphs):
        raise ValueError(f"{len(scores)} scores for {len(example.paragraphs)} paragraphs")
    best = sorted(page_order(example), key=lambda i: -scores[i])[:max_paragraphs]
    ids = example.paragraph_ids
    return example._replace(
        paragraphs=[example.paragraphs[i]._replace(score=scores[i]) for i in best],
        similarity_graph=_permuted(example.similarity_graph, best),
        discourse_graph=_permuted(example.discourse_graph, best),
        paragraph_ids=None if ids is None else [ids[i] for i in best],
    )


def _permuted(graph: Graph, order: Sequence[int]) -> Graph:
    return None if graph is None else permute(Edges(**graph), order)._asdict()


@lru_cache(maxsize=1)
def _scorer(run: str, _digest: str) -> "Scorer":
    """The ranker in a folder, kept for the next shard; the digest tells versions apart."""
    from wikisum.ranker.learned.score import Scorer

    with local_run(run) as folder:
        return Scorer.load(folder, "cpu", threads=1)  # workers share the cores


@dataclass(frozen=True)
class OrderShard:
    """A shard of joined examples -> the same, ordered by the learned ranker in the folder `run`.

    Chunks of examples are scored together, always the same ones, so that scores do not depend on
    the worker.
    """

    writer: StageWriter
    run: str
    digest: str

    def __call__(self, index: int, path: str) -> PartResult:
        scorer = _scorer(self.run, self.digest)
        found = map(example_from_row, read_rows(files.join(self.writer.out, path)))
        with self.writer.part_like(index, path) as part:
            while chunk := list(islice(found, EXAMPLES_PER_CHUNK)):
                articles = [(e.title, [p.text for p in e.paragraphs]) for e in chunk]
                for example, scores in zip(chunk, scorer.score_articles(articles), strict=True):
                    part.write(reranked(example, scores, None))
                    part.ticker.add(items=1, work=1)
        return part.result()
