import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.sequences import SEPARATOR, from_batch
from wikisum.models.network.loss import cross_entropy
from wikisum.models.network.packing import pack

sys.path.insert(0, str(Path(__file__).parent))
import literal_decoder as literal

FORMS = {
    "T-D": {"layers": "FF"},
    "local": {"layers": "LL"},
    "local, looking back": {"layers": "LL", "lookback": 1},
    "local, looking back twice": {"layers": "LL", "lookback": 2},
    "compressed after projection": {"layers": "MM"},
    "compressed before projection": {"layers": "MM", "compression": "before"},
    "compressed by 2": {"layers": "MM", "factor": 2, "compression": "before"},
    "T-DMCA": {"layers": "LML"},
    "T-DMCA of the code": {
        "layers": "LML", "feedforwards": "SES", "lookback": 1, "compression": "before",
        "input_norm": True,
    },
    "T-DMCA, norm before": {"layers": "LM", "feedforwards": "S", "pre_norm": True},
    "experts": {"layers": "FM", "feedforwards": "DE"},
    "Transformer-XL": {"layers": "XX", "output_bias": True},
    "Transformer-XL, long memory": {"layers": "XX", "memory": 10, "pre_norm": True},
    "Transformer-XL, short memory": {"layers": "XX", "memory": 3},
    "Transformer-XL without memory": {"layers": "XX", "memory": 0},
    "with biases": {"layers": "LMF", "bias": True, "scale_embeddings": False},
}  # fmt: skip
# (source, target) lengths: the inputs are two longer, 3 to 13 tokens, every border of blocks of
# 4 and every remainder by 3
PAIRS = [(1, 0), (1, 1), (1, 2), (2, 2), (2, 3), (4, 2), (3, 4), (5, 3), (4, 5), (7, 3), (3, 8)]


def rows_of(x_NW, sequences):
    return x_NW.split(sequences.lengths)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_agrees_with_the_equations_at_all_lengths(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences(*PAIRS)
    logits = model.logits(model.decode(sequences)[0])
    for mine, ids in zip(
        rows_of(logits, sequences), rows_of(sequences.id_N, sequences), strict=True
    ):
        torch.testing.assert_close(mine, literal.decode(model, ids), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_gradients_agree_with_the_equations(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences((6, 3), (2, 5))
    weight = torch.randn(len(sequences.id_N), 50)
    (model.logits(model.decode(sequences)[0]) * weight).sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    rows = [literal.decode(model, ids) for ids in rows_of(sequences.id_N, sequences)]
    (torch.cat(rows) * weight).sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:  # of the noise of gates, which is for training
            assert name.endswith("noise.weight")
            continue
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_no_token_sees_a_later_one(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences((7, 4), (3, 2))
    before = model.decode(sequences)[0]
    for place in range(1, 13):
        changed = sequences.id_N.clone()
        changed[place] = 49 if changed[place] != 49 else 48
        after = model.decode(sequences._replace(id_N=changed))[0]
        torch.testing.assert_close(after[:place], before[:place], rtol=0, atol=1e-6)
        assert not torch.allclose(after[place], before[place], atol=1e-4)
        torch.testing.assert_close(after[13:], before[13:], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_steps_with_caches_give_the_logits_of_a_full_pass(form, make_decoder):
    """For sources of many lengths at once, while hypotheses change places at every step."""
    model = make_decoder(**FORMS[form])
    rng = np.random.default_rng(3)
    sources = [[rng.integers(6, 50, n)] for n in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
    beam, steps = 3, 8
    state = model.start(model.encode(pack(sources)), beam, steps)
    written = np.zeros((len(sources), beam, 0), int)
    tokens = np.full((len(sources), beam), SEPARATOR)
    for step in range(steps):
        logits = model.step(torch.from_numpy(tokens), state)
        if step:
            written = np.concatenate([written, tokens[..., None]], -1)
        repeated = [source for source in sources for _ in range(beam)]
        leads = written.reshape(len(repeated), step)
        whole = from_batch(collate(repeated, leads, range(len(leads))))
        full = model.logits(model.decode(whole)[0])
        last = torch.tensor(whole.lengths).cumsum(0) - 1
        torch.testing.assert_close(logits.flatten(0, 1), full[last], rtol=1e-4, atol=1e-4)
        parents = torch.from_numpy(rng.integers(0, beam, (len(sources), beam)))
        state.reorder(parents)
        written = np.take_along_axis(written, parents.numpy()[..., None], 1)
        tokens = rng.integers(6, 50, (len(sources), beam))


@pytest.mark.parametrize("form", ["T-DMCA of the code", "T-D", "Transformer-XL"])
@torch.no_grad()
def test_the_state_of_some_examples_goes_on_alone(form, make_decoder):
    model = make_decoder(**FORMS[form])
    rng = np.random.default_rng(3)
    source = pack([[rng.integers(6, 50, n)] for n in (4, 9, 6)])
    states = [model.start(model.encode(source), 2, 3) for _ in range(2)]
    tokens, kept = torch.full((3, 2), SEPARATOR), torch.tensor([2, 0])
    for state in states:
        model.step(tokens, state)
    states[0].select(kept)
    some, whole = model.step(tokens[kept] + 9, states[0]), model.step(tokens + 9, states[1])
    torch.testing.assert_close(some, whole[kept], rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_source_attention_is_that_of_the_layers(form, make_decoder, make_batch):
    model, batch = make_decoder(**FORMS[form]), make_batch((7, 3), (3, 5))
    weights = model.source_attention(batch, model.encode(batch.source))
    assert weights.shape == (2, 6, 7)
    sequences = from_batch(batch)
    for row, ids in enumerate(rows_of(sequences.id_N, sequences)):
        count, result = (7, 3)[row], []
        literal.decode(model, ids, result)
        shares = torch.stack(result).sum(0)[count + 1 :, 1 : count + 1]
        sums = shares.sum(1, keepdim=True)
        expected = torch.where(sums > 0, shares / sums, torch.tensor(1 / count))
        found = weights[row, : len(expected)]
        torch.testing.assert_close(found[:, :count], expected, rtol=1e-4, atol=1e-5)
        assert not found[:, count:].any()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_half_precision_stays_close(form, make_decoder, make_batch):
    model, batch = make_decoder(**FORMS[form]), make_batch((7, 3), (3, 5))
    exact = model.log_probabilities(batch, batch.source)
    with torch.autocast("cpu", torch.bfloat16):
        near = model.log_probabilities(batch, batch.source)
    assert (exact - near).abs().max() < 0.3
    half = model.to(torch.bfloat16)
    state = half.start(half.encode(batch.source), 2, 2)
    logits = half.step(torch.full((2, 2), SEPARATOR), state).float()
    first = torch.tensor([0, 4])  # the first label of each lead
    found = logits[:, 0].log_softmax(-1).gather(1, batch.label_Y[first][:, None])[:, 0]
    assert (found - exact[first]).abs().max() < 0.3


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor that an operation returns."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for one in out if isinstance(out, tuple | list) else [out]:
            if isinstance(one, torch.Tensor):
                self.numbers = max(self.numbers, one.numel())
        return out


@pytest.mark.slow
@pytest.mark.parametrize("form", ["T-DMCA", "T-DMCA of the code", "Transformer-XL"])
def test_no_tensor_grows_faster_than_the_sequence(form, make_decoder, make_sequences):
    model, sizes = make_decoder(**FORMS[form]), []
    for length in (400, 800):
        with LargestTensor() as largest:
            model.decode(make_sequences((length, 9)))[0].sum().backward()
        sizes.append(largest.numbers)
    assert sizes[1] < 2.2 * sizes[0]


@torch.no_grad()
def test_block_256_of_the_paper_at_its_borders(make_decoder, make_sequences):
    model = make_decoder(layers="L", block=256)
    changed = 255  # the last token of the first block
    sequences = make_sequences((520, 1))
    ids = sequences.id_N.clone()
    ids[changed] = 7 if ids[changed] != 7 else 8
    moved = (model.decode(sequences)[0] != model.decode(sequences._replace(id_N=ids))[0]).any(1)
    assert moved.nonzero().squeeze(1).tolist() == [255]
    looking_back = make_decoder(layers="L", block=256, lookback=1)
    moved = (
        looking_back.decode(sequences)[0] != looking_back.decode(sequences._replace(id_N=ids))[0]
    ).any(1)
    assert moved.nonzero().squeeze(1).tolist() == list(range(255, 512))


def test_the_loss_counts_the_labels_it_should(make_decoder, make_batch):
    batch = make_batch((4, 2), (3, 5))
    sequences = from_batch(batch)
    assert sequences.lengths == (8, 10)
    model = make_decoder(layers="F")
    x, labels = model.decode(sequences)[0], sequences.label_N
    each = torch.nn.functional.cross_entropy(model.logits(x), labels, reduction="none")
    is_target = torch.tensor([0] * 5 + [1] * 3 + [0] * 4 + [1] * 6, dtype=torch.bool)
    assert torch.equal(labels[is_target], batch.label_Y)
    assert torch.equal(sequences.is_target_N, is_target)
    both = model.train()(batch, 0.0)
    assert both.predictions == 18
    torch.testing.assert_close(both.total, each.sum())
    torch.testing.assert_close(both.target, each[is_target].sum())
    source_loss = both.figures["source_loss"]
    torch.testing.assert_close(source_loss.total, each[~is_target].sum())
    assert source_loss.weight == 9
    target = model.eval()(batch, 0.0)
    torch.testing.assert_close(target.total, each[is_target].sum())
    torch.testing.assert_close(-model.log_probabilities(batch, batch.source), each[is_target])
    without = make_decoder(layers="F", separator_loss=False).train()(batch, 0.0)
    assert without.predictions == 16
    torch.testing.assert_close(without.total, each[labels != SEPARATOR].sum())
    only = make_decoder(layers="F", source_loss=False).train()(batch, 0.1)
    table = model.embedding.weight
    expected = cross_entropy(x[is_target], table, None, labels[is_target], 0.1)
    torch.testing.assert_close(only.total, expected.smoothed)


def test_the_loss_balances_experts_in_training_alone(make_decoder, make_batch):
    batch = make_batch((4, 2))
    model = make_decoder(layers="F", feedforwards="E", balance=0.5)
    plain = model(batch, 0.0)
    torch.testing.assert_close(plain.total, plain.target)
    model.train()
    torch.manual_seed(0)
    with_balance = model(batch, 0.0)
    torch.manual_seed(0)
    gates = model.decode(from_batch(batch))[1]
    model.settings = dataclasses.replace(model.settings, balance=0.0)
    torch.manual_seed(0)
    without = model(batch, 0.0).total
    torch.testing.assert_close(with_balance.total - without, 8 * 0.5 * gates[0].imbalance())
    torch.testing.assert_close(with_balance.figures["expert_imbalance"].total, gates[0].imbalance())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["T-D", "T-DMCA of the code", "Transformer-XL"])
def test_a_batch_can_be_learned_by_heart(form, make_decoder, make_batch):
    model, batch = make_decoder(**FORMS[form]).train(), make_batch((6, 5), (9, 7), (3, 4))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(60):
        loss = model(batch, 0.0)
        (loss.total / loss.predictions).backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.target.item() / len(batch.label_Y))
    assert losses[-1] < 0.2 < 3 < losses[0]
