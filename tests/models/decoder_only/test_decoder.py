import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from wikisum.models.decoder_only.sequences import SEPARATOR, pack_prompts, pack_sequences
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.loss import cross_entropy

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
PAIRS = [(0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (4, 2), (3, 4), (5, 3), (4, 5), (7, 3), (3, 8)]


def rows_of(x_NW, sequences):
    return x_NW.split(sequences.lengths)


@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_agrees_with_the_equations_at_all_lengths(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences(*PAIRS)
    logits = model.logits(model(sequences)[0])
    for mine, ids in zip(
        rows_of(logits, sequences), rows_of(sequences.id_N, sequences), strict=True
    ):
        torch.testing.assert_close(mine, literal.decode(model, ids), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_gradients_agree_with_the_equations(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences((6, 3), (2, 5))
    weight = torch.randn(len(sequences.id_N), 50)
    (model.logits(model(sequences)[0]) * weight).sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    rows = [literal.decode(model, ids) for ids in rows_of(sequences.id_N, sequences)]
    (torch.cat(rows) * weight).sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.grad is None:  # of the noise of gates, which is for training
            assert name.endswith("noise.weight")
            continue
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_no_token_sees_a_later_one(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]), make_sequences((7, 4), (3, 2))
    before = model(sequences)[0]
    for place in range(1, 13):
        changed = sequences.id_N.clone()
        changed[place] = 49 if changed[place] != 49 else 48
        after = model(sequences._replace(id_N=changed))[0]
        torch.testing.assert_close(after[:place], before[:place], rtol=0, atol=1e-6)
        assert not torch.allclose(after[place], before[place], atol=1e-4)
        torch.testing.assert_close(after[13:], before[13:], rtol=0, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_steps_with_caches_give_the_logits_of_a_full_pass(form, make_decoder):
    """For prompts of many lengths at once, while hypotheses change places at every step."""
    model = make_decoder(**FORMS[form])
    rng = np.random.default_rng(3)
    sources = [rng.integers(6, 50, n) for n in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
    beam, steps = 3, 8
    state = model.start(pack_prompts(sources), beam, steps)
    written = np.zeros((len(sources), beam, 0), int)
    tokens = np.full((len(sources), beam), SEPARATOR)
    for step in range(steps):
        logits, state = model.step(torch.from_numpy(tokens), state)
        if step:
            written = np.concatenate([written, tokens[..., None]], -1)
        repeated = [source for source in sources for _ in range(beam)]
        whole = pack_sequences(repeated, written.reshape(len(repeated), step))
        full = model.logits(model(whole)[0])
        last = torch.tensor(whole.lengths).cumsum(0) - 1
        torch.testing.assert_close(logits.flatten(0, 1), full[last], rtol=1e-4, atol=1e-4)
        parents = torch.from_numpy(rng.integers(0, beam, (len(sources), beam)))
        state = state.reordered(parents)
        written = np.take_along_axis(written, parents.numpy()[..., None], 1)
        tokens = rng.integers(6, 50, (len(sources), beam))


@pytest.mark.parametrize("form", ["T-DMCA of the code", "T-D", "Transformer-XL"])
@torch.no_grad()
def test_the_state_of_some_examples_goes_on_alone(form, make_decoder):
    model = make_decoder(**FORMS[form])
    rng = np.random.default_rng(3)
    state = model.start(pack_prompts([rng.integers(6, 50, n) for n in (4, 9, 6)]), 2, 3)
    tokens = torch.full((3, 2), SEPARATOR)
    _, state = model.step(tokens, state)
    kept = torch.tensor([2, 0])
    some, _ = model.step(tokens[kept] + 9, state.rows(kept))
    whole, _ = model.step(tokens + 9, state)
    torch.testing.assert_close(some, whole[kept], rtol=1e-4, atol=1e-5)


class LargestTensor(TorchDispatchMode):
    """Records the size of the largest tensor that an operation returns."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for one in out if isinstance(out, tuple | list) else [out]:
            if isinstance(one, torch.Tensor):
                self.numbers = max(self.numbers, one.numel())
        return out


@pytest.mark.parametrize("form", ["T-DMCA", "T-DMCA of the code", "Transformer-XL"])
def test_no_tensor_grows_faster_than_the_sequence(form, make_decoder, make_sequences):
    model, sizes = make_decoder(**FORMS[form]), []
    for length in (400, 800):
        with LargestTensor() as largest:
            model(make_sequences((length, 9)))[0].sum().backward()
        sizes.append(largest.numbers)
    assert sizes[1] < 2.2 * sizes[0]


@torch.no_grad()
def test_block_256_of_the_paper_at_its_borders(make_decoder, make_sequences):
    model = make_decoder(layers="L", block=256)
    changed = 255  # the last token of the first block
    sequences = make_sequences((520, 1))
    ids = sequences.id_N.clone()
    ids[changed] = 7 if ids[changed] != 7 else 8
    moved = (model(sequences)[0] != model(sequences._replace(id_N=ids))[0]).any(1)
    assert moved.nonzero().squeeze(1).tolist() == [255]
    looking_back = make_decoder(layers="L", block=256, lookback=1)
    moved = (looking_back(sequences)[0] != looking_back(sequences._replace(id_N=ids))[0]).any(1)
    assert moved.nonzero().squeeze(1).tolist() == list(range(255, 512))


def test_the_loss_counts_the_labels_it_should(make_decoder, make_sequences):
    sequences = make_sequences((4, 2), (3, 5))
    assert sequences.lengths == (8, 10)
    model = make_decoder(layers="F")
    x, labels = model(sequences)[0], sequences.label_N
    each = torch.nn.functional.cross_entropy(model.logits(x), labels, reduction="none")
    is_target = torch.tensor([0] * 5 + [1] * 3 + [0] * 4 + [1] * 6, dtype=torch.bool)
    assert labels[is_target].tolist()[2::6] == [3, 3]  # END
    model.train()
    both = model.loss(sequences, 0.0)
    assert (both.trained_labels, both.target_labels) == (18, 9)
    torch.testing.assert_close(both.trained, each.sum())
    torch.testing.assert_close(both.plain, each[is_target].sum())
    model.eval()
    target = model.loss(sequences, 0.0)
    torch.testing.assert_close(target.trained, each[is_target].sum())
    without = make_decoder(layers="F", separator_loss=False).train().loss(sequences, 0.0)
    assert without.trained_labels == 16
    torch.testing.assert_close(without.trained, each[labels != SEPARATOR].sum())
    only = make_decoder(layers="F", source_loss=False).train().loss(sequences, 0.1)
    table = model.embedding.weight
    expected = cross_entropy(x[is_target], table, None, labels[is_target], 0.1)
    torch.testing.assert_close(only.trained, expected.smoothed)


def test_the_loss_balances_experts_in_training_alone(make_decoder, make_sequences):
    sequences = make_sequences((4, 2))
    model = make_decoder(layers="F", feedforwards="E", balance=0.5)
    plain = model.loss(sequences, 0.0)
    torch.testing.assert_close(plain.trained, plain.plain)
    model.train()
    torch.manual_seed(0)
    with_balance = model.loss(sequences, 0.0).trained
    torch.manual_seed(0)
    gates = model(sequences)[1]
    model.settings = dataclasses.replace(model.settings, balance=0.0)
    torch.manual_seed(0)
    without = model.loss(sequences, 0.0).trained
    torch.testing.assert_close(with_balance - without, 8 * 0.5 * gates[0].imbalance())


@pytest.mark.parametrize("form", ["T-D", "T-DMCA of the code", "Transformer-XL"])
def test_a_batch_can_be_learned_by_heart(form, make_decoder, make_sequences):
    model, sequences = make_decoder(**FORMS[form]).train(), make_sequences((6, 5), (9, 7), (3, 4))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(60):
        loss = model.loss(sequences, 0.0)
        (loss.trained / loss.trained_labels).backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.plain.item() / loss.target_labels)
    assert losses[-1] < 0.2 < 3 < losses[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": "LQ"}, "--layers is spelled with"),
        ({"layers": "LM", "feedforwards": "DDD"}, "one letter, or one per layer"),
        ({"layers": "XL"}, "stand alone"),
        ({"compression": "never"}, "before or after"),
        ({"factor": 1}, "--factor must be over 1"),
        ({"width": 20, "heads": 8}, "does not divide"),
        ({"active_experts": 9, "experts": 4}, "--active-experts 9 of 4"),
        ({"dropout": 1.0}, "--dropout"),
        ({"lookback": -1}, "--lookback must not be negative"),
        ({"block": 0}, "--block must be over 0"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DecoderOnlySettings(**changes)
