from dataclasses import replace
from pathlib import Path

import pytest

from tests.pipeline.conftest import SETTINGS
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings, VocabSettings
from wikisum.pipeline.examples.stage import (
    encode_subwords,
    example_shards,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.examples.subwords import MODEL
from wikisum.ranker.data.vocab import load_model


def examples_of(flow, result, prefix="examples/") -> list[dict]:
    paths = [flow.job.workspace.path(path) for path in result.paths(prefix)]
    return [row for path in paths for row in read_rows(path)]


def join(flow, settings=SETTINGS, **changes):
    made = {**flow.results, **changes}
    return join_pages(flow.job, settings, made["articles"], made["wanted"], [made["scan"]])


def test_an_example_has_its_pages_graphs_and_subwords(flow):
    examples = {row["title"]: row for row in examples_of(flow, flow.results["tokenize"])}
    assert set(examples) == {"Tavin Bridge", "Osterby"}
    bridge = examples["Tavin Bridge"]
    assert [page["url"] for page in bridge["documents"]] == ["http://a.example/"]
    assert bridge["similarity_graph"] is not None
    model = load_model(Path(flow.job.workspace.path(MODEL)).read_bytes(), MODEL)
    assert bridge["lead_ids"] == model.encode(bridge["lead"])


def test_nothing_is_run_again_for_the_same_settings(flow):
    joined = join(flow)
    linked = link_paragraphs(flow.job, SETTINGS, joined)
    vocab = train_vocab(flow.job, SETTINGS, [], joined)
    encoded = encode_subwords(flow.job, SETTINGS, linked, vocab)
    assert all(result.skipped for result in (joined, linked, vocab, encoded))


@pytest.mark.parametrize(
    ("article_count", "asked", "split", "by_split"),
    [
        (10, None, "wikisum", {"train": 8, "validation": 1, "test": 1}),
        (8 * 4_096, None, "wikisum", {"train": 8, "validation": 1, "test": 1}),
        (16 * 4_096, None, "wikisum", {"train": 16, "validation": 2, "test": 2}),
        (16 * 4_096, 1, "wikisum", {"train": 1, "validation": 1, "test": 1}),
        (10, 100, "hierarchical", {"train": 100, "validation": 2, "test": 2}),
    ],
)
def test_shards_by_split(flow, article_count, asked, split, by_split):
    articles = flow.results["articles"]
    articles = replace(
        articles, counts={"articles_out": article_count}, extra={"settings": {"split": split}}
    )
    assert (
        example_shards(SETTINGS.changed(ExampleSettings(shards=asked)), articles).by_split
        == by_split
    )


@pytest.mark.slow
def test_a_job_without_examples_says_why(flow):
    settings = SETTINGS.changed(ExampleSettings(max_documents=1, shards=1))
    nothing = replace(flow.results["scan"], files=[], fingerprint="none")
    with pytest.raises(JobFailed, match="no article became an example: of 2 wanted pages 2 not_in"):
        join(flow, settings, scan=nothing)


def test_a_vocabulary_needs_training_examples(flow):
    joined = flow.results["examples"]
    without = replace(joined, files=[f for f in joined.files if "/train-" not in f.path])
    with pytest.raises(JobFailed, match="none of 2 examples is of the training split"):
        train_vocab(flow.job, SETTINGS, [], without)


def test_a_vocabulary_that_comes_out_small_is_reported(flow):
    settings = SETTINGS.changed(VocabSettings(vocab_size=5_000))
    vocab = train_vocab(flow.job, settings, [], flow.results["examples"])
    size = vocab.extra["vocab_size"]
    assert 50 < size < 5_000
    assert f"the training text yields only {size:,} subwords, not 5,000" in flow.messages
    assert "yields only" not in flow.messages.replace(f"only {size:,}", "")


def test_a_given_vocabulary_is_copied(flow, tmp_path):
    model = Path(flow.job.workspace.path(MODEL)).read_bytes()
    (tmp_path / "own.model").write_bytes(model)
    named = SETTINGS.changed(VocabSettings(vocab=str(tmp_path / "own.model")))
    files = expand([str(tmp_path / "own.model")])
    vocab = train_vocab(flow.job, named, files, flow.results["examples"])
    assert not vocab.skipped
    assert Path(flow.job.workspace.path(MODEL)).read_bytes() == model
    assert "yields only" not in flow.messages


def test_without_a_vocabulary_there_are_no_ids(flow):
    encoded = encode_subwords(flow.job, SETTINGS, flow.results["graphs"], None)
    assert not encoded.skipped
    assert [row["lead_ids"] for row in examples_of(flow, encoded)] == [None, None]
    assert encoded.extra["settings"] == {"vocab_sha256": None}


def test_without_graphs_no_file_of_graphs_is_written(flow):
    settings = SETTINGS.changed(GraphSettings(graphs="none"))
    linked = link_paragraphs(flow.job, settings, flow.results["examples"])
    assert not linked.files
    encoded = encode_subwords(flow.job, settings, linked, flow.results["vocab"])
    with_graphs = examples_of(flow, flow.results["examples"], ".work/joined/")
    assert [row["id"] for row in examples_of(flow, encoded)] == [row["id"] for row in with_graphs]
    assert all(row["similarity_graph"] is None for row in examples_of(flow, encoded))
    assert all(row["lead_ids"] for row in examples_of(flow, encoded))


def test_settings_of_the_graphs_make_new_graphs(flow):
    settings = SETTINGS.changed(GraphSettings(similarity_threshold=0.99))
    assert not link_paragraphs(flow.job, settings, flow.results["examples"]).skipped
