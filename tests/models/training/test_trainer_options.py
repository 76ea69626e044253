"""What a trainer is asked for besides the papers' way: AdamW, patience, other first weights."""

import io

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.settings.run import changed
from wikisum.models.training.train import Trainer
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.runs.training_log import read_log


@pytest.fixture
def trainer(topics, run_settings, tmp_path):
    def make(run="run", weights=None, **changes):
        settings = changed(run_settings, changes)
        readers = [
            SplitReader(split_shards(str(topics), split), settings.model, settings.source)
            for split in ("train", "validation")
        ]
        return Trainer(tmp_path / run, settings, *readers, weights=weights)

    return make


@pytest.mark.slow
def test_adamw_decays_matrices_and_spares_vectors(trainer):
    """Two runs that differ in decay alone: after one step by rate * decay * weight."""
    changes = {"steps": 1, "optimizer": "adamw", "dropout": 0.0, "warmup_steps": 1}
    plain, decayed = trainer("plain", **changes), trainer("decayed", weight_decay=0.5, **changes)
    before = {name: p.clone() for name, p in plain.model.named_parameters()}
    for made in (plain, decayed):
        made.fit(io.StringIO())
    after = dict(decayed.model.named_parameters())
    for name, parameter in plain.model.named_parameters():
        lost = 1e-2 * 0.5 * before[name] if parameter.dim() > 1 else 0.0
        torch.testing.assert_close(after[name], parameter - lost, rtol=1e-4, atol=1e-6)


def test_weight_decay_needs_its_optimizer(run_settings):
    with pytest.raises(ValueError, match="--weight-decay needs --optimizer adamw"):
        changed(run_settings, {"weight_decay": 0.1})


def test_a_run_without_patience_left_stops_and_stays_stopped(trainer, tmp_path, monkeypatch):
    losses = iter([3.0, 2.0, 2.5, 2.0, 1.0])
    changes = {"validate_every": 1, "patience": 2, "steps": 8}
    made = trainer(**changes)
    monkeypatch.setattr(made, "validate", lambda *_: next(losses))
    made.fit(io.StringIO())
    assert made.step == 4
    assert made.is_finished
    again = trainer(**changes)
    again.fit(io.StringIO())
    assert again.step == 4
    validated = [row for row in read_log(tmp_path / "run") if "validation_loss" in row]
    assert [row["validation_loss"] for row in validated] == [3.0, 2.0, 2.5, 2.0]


def test_a_run_starts_from_given_weights(trainer):
    first = trainer("first", seed=5)
    second = trainer("second", weights=first.model.state_dict())
    for name, parameter in second.model.named_parameters():
        assert torch.equal(parameter, first.model.state_dict()[name])
    with pytest.raises(ValueError, match="--init-from: the weights do not fit the model"):
        trainer("third", weights=first.model.state_dict(), width=32)


@pytest.mark.slow
def test_the_gradient_norm_is_logged_before_clipping(trainer, tmp_path):
    for run, clip in (("plain", 0.0), ("clipped", 1e-3)):
        trainer(run, steps=1, clip=clip, dropout=0.0).fit(io.StringIO())
    norms = [read_log(tmp_path / run)[0]["gradient_norm"] for run in ("plain", "clipped")]
    assert norms[0] == norms[1] > 1e-3
    made = trainer("by hand", dropout=0.0)
    _, batches = next(iter(_loaded(made)))
    total = sum(made.model(batch, 0.1).total for batch in batches)
    count = sum(batch.label_slot_Y.numel() for batch in batches)
    gradients = torch.autograd.grad(total / count, list(made.model.parameters()))
    norm = float(np.sqrt(sum(float(g.square().sum()) for g in gradients)))
    assert norms[0] == pytest.approx(norm, rel=1e-4)


def _loaded(made):
    from wikisum.ranker.training.loader import Loader
    from wikisum.ranker.training.updates import updates

    lengths = made.lengths(io.StringIO())
    planned = updates(lengths, made.settings.train, made.cursor, 0, made.processes)
    return Loader(made.train, 0, made.processes.device).load_updates(planned)
