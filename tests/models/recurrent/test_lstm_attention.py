import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.golden_settings import model_settings, stored
from wikisum.models.network.packing import pack
from wikisum.models.recurrent.lstm_attention import SPEC, LstmAttention, LstmSettings

sys.path.insert(0, str(Path(__file__).parent))
import literal_lstm as literal

SMALL = LstmSettings(vocab_size=30, embedding=6, width=8, dropout=0.0)
FORMS = {
    "released": {},
    "bidirectional": {"bidirectional": True},
    "one table": {"share_embeddings": True},
    "one layer": {"layers": 1},
    "three layers": {"layers": 3, "bidirectional": True},
}
LENGTHS = 5, 1, 9


def test_presets_have_the_settings_that_were_published():
    assert model_settings(SPEC) == stored("lstm")


@pytest.fixture
def make_lstm():
    def make(**changes):
        torch.manual_seed(1)
        model = LstmAttention(dataclasses.replace(SMALL, **changes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.2 * torch.randn_like(parameter)
        return model

    return make


@pytest.fixture
def source():
    rng = np.random.default_rng(2)
    return pack([[rng.integers(6, 30, length)] for length in LENGTHS])


@pytest.fixture
def target():
    torch.manual_seed(3)
    target = torch.randint(6, 30, (3, 6))
    target[:, 0] = 2
    return target


@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_the_equations_in_outputs_and_gradients(form, make_lstm, source, target):
    model = make_lstm(**FORMS[form])
    x, weights = model.decode(target, model.encode(source))
    logits = model.logits(x)
    expected = []
    for row, length in enumerate(LENGTHS):
        ids = source.id_N.split(LENGTHS)[row].tolist()
        one, seen = literal.decode(model, ids, target[row].tolist())
        expected.append(one)
        torch.testing.assert_close(logits[row], one, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(weights[row, :, :length], seen, rtol=1e-4, atol=1e-5)
        assert not weights[row, :, length:].any()
    weight = torch.randn_like(logits)
    (logits * weight).sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    (torch.stack(expected) * weight).sum().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("form", ["released", "bidirectional"])
@torch.no_grad()
def test_batch_mates_change_nothing(form, make_lstm, source, target):
    model = make_lstm(**FORMS[form])
    whole = model.decode(target, model.encode(source))[0]
    alone = model.decode(target[:1], model.encode(pack([[source.id_N[:5].numpy()]])))[0]
    torch.testing.assert_close(alone[0], whole[0], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", ["released", "bidirectional"])
@torch.no_grad()
def test_steps_of_hypotheses_are_those_of_a_full_pass(form, make_lstm, source):
    model = make_lstm(**FORMS[form])
    memory = model.encode(source)
    tokens = torch.randint(6, 30, (3, 4, 5))
    state = model.start(memory, 4, 5)
    for step in range(5):
        logits = model.step(tokens[..., step], state)
        for k in range(4):
            x, _ = model.decode(tokens[:, k, : step + 1], memory)
            torch.testing.assert_close(logits[:, k], model.logits(x[:, -1]), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_no_position_sees_a_later_token(make_lstm, source, target):
    model = make_lstm()
    memory = model.encode(source)
    before = model.decode(target, memory)[0]
    for place in range(1, 6):
        changed = target.clone()
        changed[:, place] = 5
        after = model.decode(changed, memory)[0]
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.allclose(after[:, place], before[:, place])


def test_forget_gates_start_open_and_dropout_is_for_training(source, target):
    model = LstmAttention(dataclasses.replace(SMALL, dropout=0.5))
    assert model.decoder.cells[0].bias.tolist() == [0] * 8 + [1] * 8 + [0] * 16
    assert model.encoder.lstm.bias_ih_l0.tolist() == [0] * 8 + [1] * 8 + [0] * 16
    assert not torch.equal(*(model.decode(target, model.encode(source))[0] for _ in range(2)))
    model.eval()
    assert torch.equal(*(model.decode(target, model.encode(source))[0] for _ in range(2)))
