import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from wikisum.pipeline.examples.ranker_run import local_run
from wikisum.pipeline.rerank.learned import InferScores, ScoreChunks


class LengthScorer:
    """A ranker whose scores are the lengths of the paragraphs."""

    def score_articles(self, chunk):
        return [[float(len(text)) for text in texts] for _, texts in chunk]

    def score_ids(self, chunk):
        return [[float(sum(ids)) for ids in texts] for _, texts in chunk]


@pytest.mark.slow
def test_chunks_keep_their_keys(monkeypatch):
    monkeypatch.setattr(ScoreChunks, "load_model", lambda self: LengthScorer())
    chunks = [((0, 1), [("A", ["one", "three"]), ("B", [])]), ((1, 0), [("C", ["fifteen"])])]
    with test_pipeline.TestPipeline() as pipeline:
        scores = pipeline | beam.Create(chunks) | InferScores("run")
        assert_that(scores, equal_to([((0, 1), [[3.0, 5.0], []]), ((1, 0), [[7.0]])]))


@pytest.mark.slow
def test_ids_are_scored_as_ids(monkeypatch):
    monkeypatch.setattr(ScoreChunks, "load_model", lambda self: LengthScorer())
    with test_pipeline.TestPipeline() as pipeline:
        chunks = pipeline | beam.Create([("key", [([1], [[2, 3], [4]])])])
        scores = chunks | InferScores("run", device="cpu", are_ids=True)
        assert_that(scores, equal_to([("key", [[5.0, 4.0]])]))


def test_a_local_run_is_not_copied(tmp_path):
    with local_run(str(tmp_path)) as folder:
        assert folder == tmp_path
