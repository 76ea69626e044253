"""What the framework expects of every model of the table, whatever it computes."""

import dataclasses

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import MODELS, build, spec_named

LIMITS = SourceSettings(paragraph_tokens=6, source_tokens=16)


# pretrained models have no presets, and tests of their own
@pytest.fixture(params=[name for name in MODELS if spec_named(name).presets])
def spec(request):
    return spec_named(request.param)


@pytest.fixture
def model(spec):
    """The model of the smallest preset, every parameter moved from where it starts."""
    small = next(s for name, s in spec.presets.items() if name.startswith("tiny"))
    torch.manual_seed(0)
    made = build(dataclasses.replace(small.model, vocab_size=40))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.02 * torch.randn_like(parameter)
    return made.eval()


@pytest.fixture
def make_batch(spec):
    def make(examples):
        rng = np.random.default_rng(0)
        drawn = [
            (rng.integers(6, 40, 2), [rng.integers(6, 40, n) for n in (7, 4, 9)[: 1 + e % 3]],
             rng.integers(6, 40, 3 + e))
            for e in range(4)
        ]  # fmt: skip
        rows = [drawn[e] for e in examples]
        return collate([spec.source.read(t, p, LIMITS) for t, p, _ in rows],
                       [lead for *_, lead in rows], examples)  # fmt: skip

    return make


@torch.no_grad()
def test_steps_give_the_log_probabilities_of_whole_targets(model, make_batch):
    """Two hypotheses that change places at every step; the second writes another text."""
    batch = make_batch([1, 3])
    other = batch.target_BS.flip(1).clamp(min=6)
    other[:, 0] = batch.target_BS[:, 0]
    memory = model.encode(batch.source)
    logs = torch.zeros(batch.label_BS.numel())
    logs[batch.label_slot_Y] = model.log_probabilities(batch, memory)
    state = model.start(memory, 2, batch.target_BS.shape[1])
    swapped = torch.tensor([[1, 0], [1, 0]])
    found = []
    for step in range(batch.target_BS.shape[1]):
        pair = [batch.target_BS[:, step], other[:, step]]
        mine = step % 2
        logits = model.step(torch.stack(pair[::-1] if mine else pair, 1), state)
        log = logits[:, mine].float().log_softmax(-1)
        found.append(log.gather(1, batch.label_BS[:, step : step + 1])[:, 0])
        state.reorder(swapped)
    stepped = torch.stack(found, 1)
    is_label = batch.label_BS != 0
    torch.testing.assert_close(
        stepped[is_label], logs.view_as(stepped)[is_label], rtol=1e-4, atol=1e-4
    )


@torch.no_grad()
def test_examples_that_are_done_leave_the_state(model, make_batch):
    batch, alone = make_batch([0, 3, 2]), make_batch([3])
    state = model.start(model.encode(batch.source), 1, 3)
    expected = model.start(model.encode(alone.source), 1, 3)
    begin = batch.target_BS[:, :1]
    model.step(begin, state), model.step(begin[:1], expected)
    state.select(torch.tensor([1]))
    token = torch.tensor([[9]])
    torch.testing.assert_close(
        model.step(token, state), model.step(token, expected), rtol=1e-4, atol=1e-4
    )


@pytest.mark.slow
@torch.no_grad()
def test_the_loss_of_a_batch_is_that_of_its_examples(model, make_batch):
    together = model(make_batch([0, 1, 2, 3]), 0.0)
    alone = [model(make_batch([e]), 0.0) for e in range(4)]
    assert together.predictions == sum(loss.predictions for loss in alone)
    total = float(sum(loss.target for loss in alone))
    assert float(together.target) == pytest.approx(total, rel=1e-4)
    memory = model.encode(make_batch([2]).source)
    plain = -model.log_probabilities(make_batch([2]), memory).sum()
    assert float(alone[2].target) == pytest.approx(float(plain), rel=1e-4)


def test_every_parameter_takes_part_in_the_loss(model, make_batch):
    """Or training in several processes would wait for its gradient."""
    model.train()
    model(make_batch([0, 1, 2, 3]), 0.1).total.backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []


@torch.no_grad()
def test_attention_to_the_source_sums_to_1(model, make_batch):
    batch = make_batch([1, 3])
    weights = model.source_attention(batch, model.encode(batch.source))
    if weights is not None:
        sums = weights.float().sum(-1).flatten()[batch.label_slot_Y]
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=1e-4, atol=1e-4)
        assert not weights[~batch.source.is_source_BL[:, None].expand_as(weights)].any()
