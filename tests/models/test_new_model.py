"""A model that the framework does not know: one file and one line, and every command works."""

import json
import sys

import pytest
import torch

from wikisum.models import table
from wikisum.models.decoding.summarize import load_run
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.pipeline.cli import main
from wikisum.ranker.runs.training_log import read_log

TOY = '''
from dataclasses import dataclass

import torch
from torch import nn

from wikisum.models.network.packing import pad
from wikisum.models.network.spec import Figure, Loss, ModelSpec, SummaryModel, TensorState
from wikisum.ranker.setting import setting
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import FLAT


@dataclass(frozen=True)
class ToySettings:
    vocab_size: int = setting(32_000, "number of subwords")
    size: int = setting(8, "width of the recurrent state")


class Toy(SummaryModel):
    """A recurrent decoder that starts from the mean of the source's embeddings."""

    def __init__(self, settings):
        super().__init__()
        self.embedding = nn.Embedding(settings.vocab_size, settings.size)
        self.cell = nn.GRUCell(settings.size, settings.size)
        self.dropout = nn.Dropout(0.2)
        self.output = nn.Linear(settings.size, settings.vocab_size)
        self.output.weight = self.embedding.weight

    def encode(self, source):
        x_NW = self.embedding(source.id_N)
        sum_BW = pad(x_NW, source.slot_in_example_N, source.is_source_BL).sum(1)
        return sum_BW / source.is_source_BL.sum(1, keepdim=True)

    def log_probabilities(self, batch, memory):
        h_BW, logs = memory, []
        for token_B, label_B in zip(batch.target_BS.T, batch.label_BS.T, strict=True):
            h_BW = self.cell(self.dropout(self.embedding(token_B)), h_BW)
            log_BV = self.output(h_BW).float().log_softmax(-1)
            logs.append(log_BV.gather(1, label_B[:, None])[:, 0])
        return torch.stack(logs, 1).flatten()[batch.label_slot_Y]

    def forward(self, batch, smoothing):
        total = -self.log_probabilities(batch, self.encode(batch.source)).sum()
        count = batch.label_slot_Y.numel()
        figures = {"half_loss": Figure(total.detach() / 2, count)}
        return Loss(total, count, total.detach(), figures)

    def start(self, memory, beam, max_steps):
        return TensorState({"h": memory[:, None].repeat(1, beam, 1)}, {})

    def step(self, token_BK, state):
        h_BKW = state.per_hypothesis["h"]
        h = self.cell(self.embedding(token_BK.flatten()), h_BKW.flatten(0, 1))
        state.per_hypothesis["h"] = h.view_as(h_BKW)
        state.step += 1
        return self.output(state.per_hypothesis["h"])


SPEC = ModelSpec(
    "toy", ToySettings, Toy, FLAT,
    {"toy-small": RunSettings(
        ToySettings(), SourceSettings(source_tokens=100, lead_tokens=30),
        TrainSettings(batch_tokens=1_000, warmup_steps=2, peak_learning_rate=1e-2,
                      validate_every=2, log_every=1, loader_workers=0),
        DecodingSettings(beam=2, max_tokens=6),
    )},
)
'''


@pytest.fixture
def _toy(tmp_path, monkeypatch):
    """The toy model in a file of its own, and its line in the table."""
    head = "from wikisum.models.settings.decoding import DecodingSettings\n"
    (tmp_path / "toy_model.py").write_text(head + TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(table.MODELS, "toy", "toy_model")
    yield
    sys.modules.pop("toy_model", None)


@pytest.fixture
def train(topics, tmp_path):
    def start(run, *words):
        call = ["train", "summarizer", "--data", topics, "--out", tmp_path / run, *words]
        assert main([*map(str, call)]) == 0
        return tmp_path / run

    return start


@pytest.mark.slow
@pytest.mark.usefixtures("_toy")
def test_a_new_model_trains_resumes_and_is_measured(train, topics, tmp_path, capsys):
    whole = train("whole", "--model", "toy", "--steps", 4, "--size", 12)
    for steps in (3, 4):
        parts = train("parts", "--model", "toy", "--steps", steps, "--size", 12)
    rows, again = ([row for row in read_log(run) if "loss" in row] for run in (whole, parts))
    assert again == rows
    one, two = (load_run(run, "last", "cpu").chosen.fingerprint for run in (whole, parts))
    assert one == two
    first = rows[0]
    assert first["half_loss"] == pytest.approx(first["loss"] / 2)
    assert first["gradient_norm"] > 0
    saved = json.loads((whole / "settings.json").read_text())
    assert saved["model"] == {"model": "toy", "vocab_size": 600, "size": 12}

    out = tmp_path / "test.jsonl"
    words = ["summarize", "--run", whole, "--split", "test", "--out", out]
    assert main([*map(str, words)]) == 0
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["model"] for row in written} == {"toy"}
    assert all(row["settings"]["beam"] == 2 for row in written)  # the preset's
    assert all(row["tokens"] <= 7 for row in written)
    pages = ["--out", tmp_path / "report", "--samples", 10]
    assert main([*map(str, ["evaluate", "summaries", out, *pages])]) == 0
    sizes = ["--vocab-size", 300, "--source-tokens", 60, "--target-tokens", 5]
    bench = ["bench", "--presets", "toy-small", *sizes, "--max-examples", 1]
    capsys.readouterr()
    assert main([*map(str, bench)]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["bench"][0]["preset"] == "toy-small"
    assert last["bench"][0]["parameters"] == 300 * 8 + 2 * (24 * 8 + 24) + 300


@pytest.mark.usefixtures("_toy")
def test_a_run_is_loaded_and_used_from_python(train):
    run = train("run", "--model", "toy", "--steps", 2)
    summarizer = load_run(run)
    row = summarizer.summarize(
        "The mill", ["It was old.", "The mill was built of granite."], DecodingSettings(beam=3)
    )
    assert row.summary
    # ranked by tf-idf; the toy has no attention that would tell how much was read
    assert row.paragraphs[0].text == "The mill was built of granite."
    assert row.settings["beam"] == 3
    with pytest.raises(ValueError, match="no paragraph to summarize for 'A'"):
        summarizer.summarize("A", [])


@pytest.mark.usefixtures("_toy")
def test_weights_start_from_another_run(train, tmp_path):
    first = train("first", "--model", "toy", "--steps", 2)
    second = train("second", "--model", "toy", "--steps", 1, "--init-from", first,
                   "--peak-learning-rate", 1e-30)  # fmt: skip
    one, two = (load_run(run, checkpoint, "cpu").chosen.weights
                for run, checkpoint in ((first, "best"), (second, "last")))  # fmt: skip
    assert all(torch.equal(one[name], two[name]) for name in one)
    call = ["train", "summarizer", "--model", "toy", "--size", 5, "--init-from", first,
            "--data", first.parent, "--out", tmp_path / "third"]  # fmt: skip
    assert main([*map(str, call)]) == 2


@pytest.mark.usefixtures("_toy")
def test_a_flag_of_another_model_is_refused(topics, tmp_path, capsys):
    call = ["train", "summarizer", "--data", topics, "--out", tmp_path, "--model", "toy"]
    assert main([*map(str, call), "--heads", "2"]) == 2
    assert "heads" in capsys.readouterr().err
