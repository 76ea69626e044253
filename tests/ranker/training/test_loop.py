"""The loop itself, with a model of one weight; models/training/test_train.py trains real ones."""

import io
import math

import numpy as np
import pytest
import torch
from torch import nn

from tests.ranker.training.points import PointReader
from wikisum.ranker.runs.training_log import read_log
from wikisum.ranker.training import loop as module
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.failures import TrainingFailed
from wikisum.ranker.training.loop import Stopping, TrainingLoop
from wikisum.ranker.training.loss import Figure, Loss
from wikisum.ranker.training.settings import LoopSettings

SIZES = (3, 2)


class LineLoop(TrainingLoop):
    """Fits y = w x, from w = 0; a validation returns the next of `validations`, or the weight."""

    kind = "line"
    divergence_hint = "lower the rate"

    def __init__(self, run, loop, rows=SIZES, validations=(), factor=1.0, processes=None):
        self.validations_left, self.factor = list(validations), factor
        self.saved, self.batches = [], []
        model = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(model.weight)
        settings = {"train": vars(loop)}
        group = processes or ProcessGroup(0, 1, torch.device("cpu"))
        super().__init__(run, loop, settings, model, PointReader(*rows), group)

    def make_optimizer(self):
        return torch.optim.SGD(self.model.parameters(), lr=1.0)

    def learning_rate(self, step):
        return 0.01 / step

    def compute_loss(self, batch):
        self.batches.append(batch.number_B.tolist())
        error_B = self.parallel(batch.x_B[:, None])[:, 0] - batch.y_B
        total = self.factor * error_B.square().sum()
        largest = Figure(batch.x_B.max(), 1)
        return Loss(total, batch.labels, total, {"largest": largest})

    def measure(self, to):
        left = self.validations_left
        return {"validation_loss": left.pop(0) if left else self.weight}

    def save_best(self, row, weights):
        self.saved.append((self.step, row["validation_loss"]))

    @property
    def weight(self):
        return self.model.weight.item()


def settings(**changes):
    plain = {"steps": 4, "batch_tokens": 2, "validate_every": 2, "log_every": 1}
    return LoopSettings(**{**plain, "loader_workers": 0, **changes})


@pytest.fixture
def train(tmp_path, monkeypatch):
    """A function: a trained loop."""
    monkeypatch.setattr(module, "cached_lengths", lambda reader, *_: reader.lengths())

    def start(run="run", stopping=None, changes=None, **more):
        found = LineLoop(tmp_path / run, settings(**(changes or {})), **more)
        found.fit(io.StringIO(), stopping)
        return found

    return start


def test_an_update_is_the_mean_over_all_labels_of_its_batches(train, tmp_path):
    found = train(changes={"steps": 1, "update_batches": 2})
    x = 1.0 + np.concatenate(found.batches)
    assert len(found.batches) == 2
    gradient = (2 * (0 - 2 * x) * x).mean()
    assert found.weight == pytest.approx(-0.01 * gradient)
    log, validation = read_log(tmp_path / "run")
    assert log["loss"] == pytest.approx((4 * x * x).mean())
    assert log["gradient_norm"] == pytest.approx(-gradient)
    assert log["learning_rate"] == 0.01
    assert log["largest"] == pytest.approx(np.mean([max(b) + 1 for b in found.batches]))
    assert validation == {"step": 1, "validation_loss": found.weight}


def test_gradients_are_clipped_and_their_norm_is_logged_before(train, tmp_path):
    found = train(changes={"steps": 1, "clip": 0.5})
    assert found.weight == pytest.approx(0.01 * 0.5, rel=1e-4)
    assert read_log(tmp_path / "run")[0]["gradient_norm"] > 1


def test_the_rate_follows_the_step(train, tmp_path):
    train()
    rates = [row["learning_rate"] for row in read_log(tmp_path / "run") if "loss" in row]
    assert rates == pytest.approx([0.01, 0.01 / 2, 0.01 / 3, 0.01 / 4])


def test_validations_come_in_time_and_at_the_end(train):
    assert [step for step, _ in train(changes={"steps": 5}).saved] == [2, 4, 5]


@pytest.mark.parametrize(
    ("patience", "costs", "steps"),
    [
        (0, [1, 2, 3, 4], 8),
        (1, [3, 2, 1, 1], 8),  # an equal cost is no better: it ends here too
        (1, [3, 4], 4),
        (2, [3, 4, 2, 3, 2], 10),
        (2, [3, 3, 3], 6),
    ],
)
def test_patience_counts_validations_without_a_better_one(train, patience, costs, steps):
    changes = {"steps": 2 * len(costs) + (2 if steps < 2 * len(costs) else 0)}
    found = train(changes={**changes, "patience": patience}, validations=costs)
    assert found.step == steps


def test_a_run_that_was_stopped_ends_like_one_undisturbed(train, tmp_path):
    whole = train("whole", changes={"steps": 6})
    stopping = Stopping()
    stopping.asked_at = 0.0
    steps = []
    while not steps or steps[-1] < 6:
        part = train("part", stopping, {"steps": 6})
        steps.append(part.step)
    assert steps == [1, 2, 3, 4, 5, 6]
    train("part", changes={"steps": 6})  # validates at the last step, where it was stopped
    assert part.weight == whole.weight
    assert read_log(tmp_path / "part") == read_log(tmp_path / "whole")


def test_more_steps_are_no_other_settings(train):
    train(changes={"steps": 2})
    assert train(changes={"steps": 4}).step == 4
    with pytest.raises(ValueError, match="was trained with --batch-tokens 2, not 3"):
        train(changes={"steps": 6, "batch_tokens": 3})


def test_a_run_is_resumed_on_the_same_examples(train):
    train()
    with pytest.raises(ValueError, match="was trained on other examples"):
        train(changes={"steps": 6}, rows=(2, 2))


@pytest.mark.parametrize("factor", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_ends_the_run(train, factor):
    with pytest.raises(TrainingFailed, match="step 1: the loss is NaN or infinite; lower the rate"):
        train(factor=factor)


def test_a_validation_that_is_not_finite_ends_the_run(train):
    with pytest.raises(TrainingFailed, match="step 2: the loss is NaN"):
        train(validations=[math.nan])


@pytest.mark.parametrize(("precision", "is_half"), [("auto", False), ("bf16", True)])
def test_half_precision_on_a_cpu_is_asked_for(tmp_path, precision, is_half):
    found = LineLoop(tmp_path, settings(precision=precision))
    with found.autocast():
        assert (torch.mm(torch.ones(1, 1), torch.ones(1, 1)).dtype == torch.bfloat16) is is_half


@pytest.mark.parametrize(("batches", "is_right"), [(None, True), (4, True), (3, False)])
def test_batches_of_an_update_divide_among_the_processes(tmp_path, batches, is_right, monkeypatch):
    monkeypatch.setattr(module, "DistributedDataParallel", lambda model: model)
    two = ProcessGroup(0, 2, torch.device("cpu"))
    if is_right:
        LineLoop(tmp_path, settings(update_batches=batches), processes=two)
    else:
        with pytest.raises(ValueError, match="--update-batches 3 does not divide among 2"):
            LineLoop(tmp_path, settings(update_batches=batches), processes=two)
