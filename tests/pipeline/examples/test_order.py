import pytest

from tests.pipeline.conftest import SETTINGS
from wikisum.graphs.similarity import similarity_graph
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.examples import order, stage
from wikisum.pipeline.examples.settings import OrderSettings
from wikisum.pipeline.examples.stage import encode_subwords, link_paragraphs, order_paragraphs
from wikisum.ranker.runs.files import BEST, VOCAB


class Backwards:
    """A ranker that scores the last paragraph of an article highest."""

    def score_articles(self, articles):
        return [[i / len(texts) for i in range(len(texts))] for _, texts in articles]


@pytest.fixture
def ranker(tmp_path, monkeypatch):
    for name in (BEST, VOCAB):
        (tmp_path / name).write_bytes(b"weights")
    monkeypatch.setattr(order, "_scorer", lambda run, digest: Backwards())
    return str(tmp_path)


def rows(flow, result, prefix):
    paths = [flow.job.workspace.path(path) for path in result.paths(prefix)]
    return {row["id"]: row for path in paths for row in read_rows(path)}


def texts(row):
    return [p["text"] for p in row["paragraphs"]]


def test_nothing_is_ordered_without_a_ranker(flow):
    assert order_paragraphs(flow.job, SETTINGS, flow.results["examples"]) == []


def test_graphs_and_examples_follow_the_ranker(flow, ranker):
    settings = SETTINGS.changed(OrderSettings(ranker))
    joined = flow.results["examples"]
    (ordered,) = order_paragraphs(flow.job, settings, joined)
    linked = link_paragraphs(flow.job, settings, ordered)
    encoded = encode_subwords(flow.job, settings, linked, flow.results["vocab"])
    before, after = rows(flow, joined, ".work/joined/"), rows(flow, encoded, "examples/")
    assert before.keys() == after.keys()
    assert any(texts(before[id_]) != texts(after[id_]) for id_ in before)
    for id_, row in after.items():
        assert texts(row) == texts(before[id_])[::-1]
        assert [p["score"] for p in row["paragraphs"]] == sorted(
            (p["score"] for p in row["paragraphs"]), reverse=True
        )
        edges = similarity_graph(texts(row))
        assert row["similarity_graph"]["source"] == edges.source
        assert row["similarity_graph"]["weight"] == pytest.approx(edges.weight)
        assert len(row["paragraph_ids"]) == len(row["paragraphs"])


def test_another_ranker_orders_again(flow, ranker):
    settings = SETTINGS.changed(OrderSettings(ranker))
    joined = flow.results["examples"]
    (first,) = order_paragraphs(flow.job, settings, joined)
    assert order_paragraphs(flow.job, settings, joined)[0].skipped
    files.write_bytes(files.join(ranker, BEST), b"other weights")
    (second,) = order_paragraphs(flow.job, settings, joined)
    assert not second.skipped
    assert first.extra["settings"]["ranker"] != second.extra["settings"]["ranker"]
    assert second.extra["origin"][stage.ORDER.name] == {
        "ranker": second.extra["settings"]["ranker"]
    }
