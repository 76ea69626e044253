import io
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.data.batches import SplitReader
from wikisum.models.settings.run import TrainSettings, changed
from wikisum.models.table import preset
from wikisum.models.training.stall import (
    StallCheck,
    explain_stall,
    frequency_loss,
    is_due,
    is_stuck,
)
from wikisum.models.training.train import Trainer
from wikisum.ranker.data.shards import split_shards


def rows_of(losses, every=20):
    return [{"step": every * (i + 1), "loss": loss} for i, loss in enumerate(losses)]


# steps 20, 40, ... of the hierarchical transformer at width 64 with a warm-up of 60, where
# guessing by frequency gives 4.45
STUCK = rows_of([7.0, 5.82, 4.95, 4.69, 4.66, 4.64, 4.62])
LEARNING = rows_of([7.07, 5.69, 4.5, 3.51, 2.92, 2.66, 2.42])


def test_measured_curves_are_told_apart():
    assert is_stuck(STUCK, 60, 4.45)
    assert not is_stuck(LEARNING, 60, 4.45)


def test_a_slow_run_is_not_stuck():
    assert not is_stuck(rows_of([9.0, 8.0, 7.0, 6.6, 6.2, 5.8, 5.5]), 60, 4.45)


def test_a_run_that_knows_more_than_frequencies_is_not_stuck():
    """Training from another run's weights begins with a low loss, which may hardly move."""
    assert not is_stuck(rows_of([1.5, 1.5, 1.5, 1.5, 1.5, 1.5]), 60, 4.45)


def test_rows_before_the_end_of_the_warmup_and_validations_do_not_count():
    assert not is_stuck(STUCK[:4], 60, 4.45)
    validation = {"step": 120, "validation_loss": 1.0}
    assert is_stuck([*STUCK, validation], 60, 4.45)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any))
def test_the_loss_of_frequencies_is_their_entropy(counts):
    total = sum(counts)
    expected = -sum(c / total * math.log(c / total) for c in counts if c)
    assert frequency_loss(torch.tensor(counts)) == pytest.approx(expected, abs=1e-9)


def test_it_is_due_once():
    settings = TrainSettings(warmup_steps=50, log_every=40)
    logged = range(40, 400, 40)
    assert [step for step in logged if is_due(step, settings)] == [120]


def test_the_message_says_what_to_try():
    literal = explain_stall(preset("ht-paper-literal"), 4.4512)
    assert "--pre-norm, or a lower --peak-learning-rate (now 0.002096)" in literal
    assert "more --warmup-steps (now 8,000)" in literal
    assert "give 4.45" in literal
    assert "--pre-norm" not in explain_stall(preset("ht-paper"), 4.45)
    assert "--pre-norm" not in explain_stall(preset("seq2seq-att"), 4.45)


def test_labels_beyond_the_vocabulary_are_counted_as_one():
    check = StallCheck(changed(preset("tiny"), {"vocab_size": 4}), torch.device("cpu"))
    check.count(1, torch.tensor([1, 3, 9, 9]))
    assert check._count_V.tolist() == [0, 1, 0, 3]


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "is_warned"), [(1e-9, True), (1e-2, False)])
def test_training_warns(rate, is_warned, topics, run_settings, tmp_path):
    """At hardly any rate, the loss stays that of the first weights."""
    changes = {"warmup_steps": 10, "log_every": 1, "steps": 20, "validate_every": 100}
    settings = changed(run_settings, {**changes, "peak_learning_rate": rate})
    reader = SplitReader(split_shards(str(topics), "train"), settings.model, settings.source)
    to = io.StringIO()
    Trainer(tmp_path / "run", settings, reader).fit(to)
    assert to.getvalue().count("the loss has not moved since the warm-up") == is_warned
