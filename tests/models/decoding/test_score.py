import io
import json
import math

import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.score import read_texts, score_texts
from wikisum.models.decoding.summarize import load_run
from wikisum.models.decoding.summary_files import BadSummaries
from wikisum.models.settings.run import changed
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import prepare_run
from wikisum.models.training.train import Trainer
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import read_group, split_shards


@pytest.fixture(scope="module")
def run(topics, tmp_path_factory):
    """A run of one step."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    sizes = {"width": 16, "feedforward": 32, "vocab_size": 600}
    settings = changed(preset("tiny"), {**sizes, "steps": 1, "batch_tokens": 1_000})
    reader = SplitReader(split_shards(str(topics), "train"), settings.model, settings.source)
    vocab = (topics / "vocab" / "wikisum.model").read_bytes()
    prepare_run(folder, settings, vocab, str(topics))
    Trainer(folder, settings, reader).fit(io.StringIO())
    return folder


@pytest.fixture
def loaded(run):
    return load_run(run, "last", "cpu")


@pytest.fixture
def reader(loaded, topics):
    settings = loaded.settings
    return SplitReader(split_shards(str(topics), "test"), settings.model, settings.source)


@pytest.mark.slow
def test_a_score_is_the_sum_of_its_tokens_log_softmax(loaded, reader):
    for number, score in enumerate(list(score_texts(loaded, reader, 1_000))[:3]):
        batch = reader.batch(torch.tensor([number]).numpy())
        memory = loaded.model.encode(batch.source)
        logits_SV = loaded.model.logits(loaded.model.decode(batch.target_BS, memory))[0]
        logs = logits_SV.log_softmax(-1).gather(1, batch.label_BS[0][:, None])[:, 0].tolist()
        assert score.token_log_probs == pytest.approx(logs, abs=1e-4)
        assert score.tokens == len(logs) == len(score.token_log_probs)
        assert score.log_prob == pytest.approx(sum(logs), abs=1e-3)
        assert score.perplexity == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)


@pytest.mark.slow
def test_given_leads_score_as_the_splits_own(loaded, reader):
    rows = read_group(reader.groups[0], ["id", "lead"]).to_pylist()
    own = list(score_texts(loaded, reader, 1_000))
    given = list(score_texts(loaded, reader, 700, {row["id"]: [row["lead"]] for row in rows}))
    assert [s.id for s in given] == [s.id for s in own][: len(given)]
    for one, other in zip(own, given, strict=False):
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-4)


def test_an_example_may_have_many_texts_and_long_ones_are_cut(loaded, reader):
    row = read_group(reader.groups[0], ["id", "lead"]).to_pylist()[2]
    texts = [row["lead"], "", "bridge " * 500]
    first, empty, cut = score_texts(loaded, reader, 1_000, {row["id"]: texts})
    assert (empty.tokens, empty.is_cut) == (1, False)
    assert (cut.tokens, cut.is_cut) == (reader.source.target_tokens + 1, True)
    assert first.text == row["lead"]


def test_an_id_of_another_split_is_named(loaded, reader):
    with pytest.raises(BadSummaries, match="1 ids are not in the split, for example nowhere"):
        list(score_texts(loaded, reader, 1_000, {"nowhere": ["text"]}))


def test_texts_come_from_json_lines(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text('{"id": "a", "text": "one"}\n{"id": "a", "summary": "two"}\n')
    assert read_texts(path) == {"a": ["one", "two"]}
    path.write_text('{"id": "a"}\n')
    with pytest.raises(BadSummaries, match=r"texts\.jsonl: line 1: has no id, or no text"):
        read_texts(path)


@pytest.mark.slow
def test_the_command_writes_a_line_per_text(run, tmp_path, capsys):
    out = tmp_path / "scores.jsonl"
    words = ["score", "--run", str(run), "--checkpoint", "last", "--device", "cpu"]
    assert main([*words, "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 60
    total = math.exp(-sum(r["log_prob"] for r in rows) / sum(r["tokens"] for r in rows))
    assert f"perplexity {total:,.2f}" in capsys.readouterr().out
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"id": rows[7]["id"], "text": rows[7]["text"]}) + "\n")
    assert main([*words, "--texts", str(texts), "--out", str(out)]) == 0
    (again,) = map(json.loads, out.read_text().splitlines())
    assert again["log_prob"] == pytest.approx(rows[7]["log_prob"], abs=1e-3)
    texts.write_text("{}\n")
    assert main([*words, "--texts", str(texts), "--out", str(out)]) == 1
    assert "line 1" in capsys.readouterr().err
