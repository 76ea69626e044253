"""Pretrained models from the command line: trained, killed, resumed, moved, decoded, evaluated."""

import builtins
import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from tests.models.pretrained.tiny_models import ALL
from wikisum.models.decoding.summarize import load_run
from wikisum.models.training.checkpoints import choose
from wikisum.models.training.train import Trainer
from wikisum.pipeline.cli import main

STEPS = 4


def words_of(pretrained, topics, run, kind, *more):
    words = [
        "train", "summarizer", "--model", "hf", "--pretrained", pretrained / kind, "--data", topics,
        "--out", run, "--steps", STEPS, "--batch-tokens", 500, "--update-batches", 2,
        "--validate-every", 2, "--log-every", 1, "--warmup-steps", 2, "--source-tokens", 90,
        "--lead-tokens", 40, "--loader-workers", 0, "--peak-learning-rate", "1e-3",
        "--device", "cpu", *more,
    ]  # fmt: skip
    return [str(word) for word in words]


@pytest.fixture
def few_validations(monkeypatch):
    """The loss of validations, without computing it: it is tested elsewhere."""
    monkeypatch.setattr(Trainer, "validate", lambda self, reader, to=None: 10.0 - self.step)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.usefixtures("few_validations")
def test_a_killed_run_resumes_to_the_same_weights_and_writes(
    kind, pretrained, topics, tmp_path, monkeypatch, capsys
):
    folders = tmp_path / "pretrained"
    shutil.copytree(pretrained / kind, folders / kind)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main(words_of(folders, topics, whole, kind)) == 0
    compute = Trainer.compute_loss

    def dies(self, batch):
        if self.step == 3:
            raise Killed
        return compute(self, batch)

    monkeypatch.setattr(Trainer, "compute_loss", dies)
    with pytest.raises(Killed):
        main(words_of(folders, topics, parts, kind))
    monkeypatch.setattr(Trainer, "compute_loss", compute)
    # a run is resumed from its own folder: the weights it started from may be gone
    for path in folders.rglob("*.safetensors"):
        path.unlink()
    assert main(words_of(folders, topics, parts, kind)) == 0
    one, other = (choose(run, "last").weights for run in (whole, parts))
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert len(one) > 10
    shutil.rmtree(folders)
    moved = whole.rename(tmp_path / "moved")
    out = tmp_path / "out.jsonl"
    call = ["summarize", "--run", moved, "--split", "test", "--beam", 2, "--max-tokens", 6]
    call += ["--source-tokens", 60, "--out", out, "--device", "cpu", "--batch-tokens", 20_000]
    assert main([str(word) for word in call]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[0]["model"] == "hf"
    for row in rows:
        assert row["lead_log_prob"] < 0
        assert sum(p["attention"] for p in row["paragraphs"]) == pytest.approx(1, abs=1e-3)
    capsys.readouterr()
    assert main(["evaluate", "summaries", str(out)]) == 0
    assert "R-1" in capsys.readouterr().out


@pytest.mark.usefixtures("few_validations")
def test_training_starts_from_the_weights_of_the_folder(pretrained, topics, tmp_path):
    run = tmp_path / "run"
    # a rate of nearly nothing leaves the weights where they were
    call = words_of(pretrained, topics, run, "bart", "--peak-learning-rate", "1e-12", "--steps", 2)
    assert main(call) == 0
    found = choose(run, "last").weights
    for name, tensor in load_file(pretrained / "bart" / "model.safetensors").items():
        torch.testing.assert_close(found[f"network.{name}"], tensor, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("few_validations")
def test_a_text_is_summarized_and_scored(pretrained, topics, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(words_of(pretrained, topics, run, "t5", "--steps", 2)) == 0
    loaded = load_run(run, device="cpu")
    row = loaded.summarize("Tavin", ["The bridge of Tavin is old.", "It was built in 1811."])
    assert len(row.paragraphs) == 2
    out = tmp_path / "scores.jsonl"
    call = ["score", "--run", run, "--split", "test", "--out", out, "--device", "cpu"]
    assert main([str(word) for word in call]) == 0
    assert all(json.loads(line)["log_prob"] < 0 for line in out.read_text().splitlines())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--pretrained", "nowhere"], "there is no folder nowhere"),
        (["--source-tokens", "900"], "--source-tokens must be at most 254"),
        (["--lead-tokens", "900"], "--lead-tokens must be at most 254"),
        (["--target", "article"], "--target article"),
        (["--activation-checkpointing"], "--activation-checkpointing"),
    ],
)
def test_wrong_calls_are_one_line(change, message, pretrained, topics, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(words_of(pretrained, topics, run, "bart", *change)) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert message in error[-1]
    assert not (run / "settings.json").exists()


def test_a_call_without_a_folder_says_so(topics, tmp_path, capsys):
    call = ["train", "summarizer", "--model", "hf", "--data", topics, "--out", tmp_path / "run"]
    assert main([str(word) for word in call]) == 2
    assert "--pretrained DIR" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_pickled_weights_are_never_read(pretrained, topics, tmp_path, capsys):
    folder = tmp_path / "pickled" / "bart"
    shutil.copytree(pretrained / "bart", folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert main(words_of(folder.parent, topics, tmp_path / "run", "bart")) == 2
    assert "safetensors" in capsys.readouterr().err


def test_a_missing_library_is_one_line(pretrained, topics, tmp_path, capsys, monkeypatch):
    load = builtins.__import__

    def without(name, *args, **more):
        if name == "transformers":
            raise ModuleNotFoundError("no module named transformers", name="transformers")
        return load(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(words_of(pretrained, topics, tmp_path / "run", "bart")) != 0
    assert "pip install 'wikisum[hf]'" in capsys.readouterr().err
