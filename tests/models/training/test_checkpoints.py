import json
import re
import shutil

import pytest
import torch

from wikisum.models.settings.run import changed
from wikisum.models.table import to_json
from wikisum.models.training.checkpoints import (
    KIND,
    Best,
    averaged,
    best_of,
    best_path,
    best_steps,
    choose,
    data_of,
    delete_others,
    prepare_run,
    save_best,
    validations,
)
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs.checkpoints import check_vocab, load_checkpoint, save_checkpoint
from wikisum.ranker.runs.files import LAST

CPU = torch.device("cpu")


def save_progress(run, settings, state):
    save_checkpoint(run / LAST, KIND, {"settings": to_json(settings), **state})


def logged(run, *rows):
    with (run / "log.jsonl").open("a") as log:
        log.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def run(run_settings, tmp_path):
    """A run with validations at steps 1, 2 and 3, the second the best, and weights of step 4."""
    for step, loss in ((1, 3.0), (2, 1.0), (3, 2.0)):
        save_best(tmp_path, run_settings, {"w": torch.full((2,), float(step))}, Best(loss, step), 9)
        logged(tmp_path, {"step": step, "loss": 9.0}, {"step": step, "validation_loss": loss})
    save_progress(tmp_path, run_settings, {"step": 4, "model": {"w": torch.full((2,), 4.0)}})
    return tmp_path


def kept(run):
    return sorted(int(p.stem.removeprefix("step-")) for p in (run / "best").iterdir())


def test_names_sort_as_steps(tmp_path):
    assert best_path(tmp_path, 42) == tmp_path / "best" / "step-00000042.safetensors"


def test_progress_comes_back_with_its_settings(run, run_settings):
    state = load_checkpoint(run / LAST, KIND, CPU)
    assert state["settings"] == json.loads(json.dumps(to_json(run_settings)))
    assert (state["step"], state["model"]["w"].tolist()) == (4, [4, 4])


def test_validations_are_read_from_the_log(run):
    assert validations(run) == [Best(3.0, 1), Best(1.0, 2), Best(2.0, 3)]


def test_the_best_are_those_with_weights_lowest_loss_first(run):
    assert best_of(run) == [Best(1.0, 2), Best(2.0, 3), Best(3.0, 1)]
    assert best_of(run, 2) == [Best(1.0, 2), Best(2.0, 3)]
    best_path(run, 2).unlink()
    assert best_of(run) == [Best(2.0, 3), Best(3.0, 1)]
    assert best_steps(run) == [3, 1]


@pytest.mark.parametrize(("loss", "keep", "is_saved"), [
    (2.5, 3, True), (3.5, 3, False), (3.5, 4, True), (0.5, 1, True), (1.0, 1, False),
])  # fmt: skip
def test_only_validations_among_the_best_are_saved(loss, keep, is_saved, run, run_settings):
    save_best(run, run_settings, {"w": torch.zeros(2)}, Best(loss, 7), keep)
    assert best_path(run, 7).is_file() == is_saved


def test_the_others_are_deleted(run):
    (run / "best" / "notes.txt").write_text("mine")
    delete_others(run, best_of(run, 2))
    assert not best_path(run, 1).exists()
    (run / "best" / "notes.txt").unlink()
    assert kept(run) == [2, 3]


def test_the_best_validations_are_kept_on_disk(run_settings, tmp_path):
    for step, loss in enumerate([3.0, 2.0, 2.5, 1.0], 1):
        state = {"w": torch.full((2,), float(step))}
        save_best(tmp_path, run_settings, state, Best(loss, step), keep=2)
        with (tmp_path / "log.jsonl").open("a") as log:
            log.write(json.dumps({"step": step, "validation_loss": loss}) + "\n")
        delete_others(tmp_path, best_of(tmp_path, 2))
    assert best_of(tmp_path) == [Best(1.0, 4), Best(2.0, 2)]
    assert sorted(p.name for p in (tmp_path / "best").iterdir()) == [
        "step-00000002.safetensors", "step-00000004.safetensors",
    ]  # fmt: skip


def test_the_mean_of_weights_keeps_their_types():
    weights = [
        {"w": torch.tensor([1.0, 3.0]), "n": torch.tensor([2]), "h": torch.ones(1).bfloat16()},
        {"w": torch.tensor([3.0, 5.0]), "n": torch.tensor([4]), "h": torch.ones(1).bfloat16()},
    ]
    mean = averaged(weights)
    assert {name: tensor.tolist() for name, tensor in mean.items()} == {
        "w": [2, 4], "n": [3], "h": [1],
    }  # fmt: skip
    assert [mean[n].dtype for n in "wnh"] == [torch.float32, torch.int64, torch.bfloat16]


@pytest.mark.parametrize(("checkpoint", "value", "name"), [
    ("last", 4.0, "step 4"),
    ("best", 2.0, "step 2"),
    ("average", 2.0, "step 2, 3, 1"),
    ("3", 3.0, "step 3"),
    ("1", 1.0, "step 1"),
])  # fmt: skip
def test_weights_are_chosen_by_name(checkpoint, value, name, run, run_settings):
    found = choose(run, checkpoint)
    assert found.weights["w"].tolist() == [value, value]
    assert found.name == name
    assert found.settings == run_settings


def test_an_average_is_a_mean_and_not_a_median(run, run_settings):
    save_best(run, run_settings, {"w": torch.full((2,), 10.0)}, Best(0.5, 8), 9)
    logged(run, {"step": 8, "validation_loss": 0.5})
    assert choose(run, "average").weights["w"].tolist() == [4, 4]


def test_fingerprints_are_those_of_names_and_values(run, run_settings):
    prints = {name: choose(run, name).fingerprint for name in ("last", "best", "average", "1")}
    assert prints["best"] == prints["average"]  # the mean of 1, 2 and 3 is 2
    assert len(set(prints.values())) == 3
    assert all(len(p) == 16 and int(p, 16) >= 0 for p in prints.values())
    save_progress(run, run_settings, {"step": 4, "model": {"v": torch.full((2,), 4.0)}})
    assert choose(run, "last").fingerprint != prints["last"]


@pytest.mark.parametrize("name", ["bets", "", "-1", "2.5"])
def test_another_name_is_refused(name, run):
    with pytest.raises(ValueError, match="--checkpoint must be best, last, average or a step"):
        choose(run, name)


def test_a_step_without_weights_is_answered_with_those_that_have(run):
    with pytest.raises(ValueError, match=r"--checkpoint 5: .* has weights of steps 1, 2, 3$"):
        choose(run, "5")


def test_a_folder_without_a_run_is_named(tmp_path):
    for checkpoint in ("best", "average", "last", "7"):
        with pytest.raises(FileNotFoundError, match="holds no run of a summarizer"):
            choose(tmp_path, checkpoint)
    with pytest.raises(FileNotFoundError, match=r"holds no run of a summarizer: no settings\.json"):
        data_of(tmp_path)


def test_a_run_without_validations_says_what_to_use(run):
    shutil.rmtree(run / "best")
    with pytest.raises(FileNotFoundError, match="no validated weights: use --checkpoint last"):
        choose(run, "best")


def test_a_prepared_run_names_its_data_and_settings(run_settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "new" / "run"
    settings = changed(run_settings, {"steps": 77})
    prepare_run(run, settings, b"vocabulary", "data")
    assert data_of(run) == str(tmp_path / "data")
    assert (run / "vocab.model").read_bytes() == b"vocabulary"
    written = json.loads((run / "settings.json").read_text())
    assert written["train"]["steps"] == 77
    prepare_run(run, settings, b"other", "gs://bucket/data")
    assert data_of(run) == "gs://bucket/data"


def test_another_vocabulary_is_refused_once_there_are_weights(run_settings, tmp_path):
    prepare_run(tmp_path, run_settings, b"one", "data")
    check_vocab(tmp_path, b"two", "data")
    save_progress(tmp_path, run_settings, {"step": 1})
    check_vocab(tmp_path, b"one", "data")
    with pytest.raises(ValueError, match="data has another vocabulary"):
        check_vocab(tmp_path, b"two", "data")


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"data": 5}', "[" * 100_000, "\xff"])
def test_damaged_settings_of_a_run_are_named(tmp_path, text):
    (tmp_path / "settings.json").write_text(text, encoding="latin-1")
    with pytest.raises(BadFile, match=re.escape(str(tmp_path / "settings.json"))):
        data_of(tmp_path)
