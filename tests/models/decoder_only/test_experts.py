import dataclasses

import pytest
import torch

from wikisum.models.decoder_only.experts import Experts
from wikisum.models.decoder_only.settings import DecoderOnlySettings

SMALL = DecoderOnlySettings(width=8, feedforward=16, heads=2, experts=6)


@pytest.fixture
def make_experts():
    def make(**changes):
        torch.manual_seed(0)
        experts = Experts(dataclasses.replace(SMALL, **changes))
        for gate in (experts.gate, experts.noise):
            torch.nn.init.normal_(gate.weight)
        return experts

    return make


def noisy(experts, x, seed):
    """Clean and noisy scores and the noise's deviation, with the noise of a seed."""
    torch.manual_seed(seed)
    clean = x @ experts.gate.weight.T
    deviation = torch.log1p((x @ experts.noise.weight.T).exp()) + 0.01
    return clean, clean + torch.randn_like(clean) * deviation, deviation


@pytest.mark.parametrize("active", [1, 2, 6])
def test_outputs_and_gradients_are_those_of_a_loop(active, make_experts):
    experts = make_experts(active_experts=active).train()
    x = torch.randn(40, 8, requires_grad=True)
    _, scores, _ = noisy(experts, x, 3)
    rows = []
    for n in range(40):
        best = scores[n].argsort(descending=True)[:active]
        weights = scores[n][best].softmax(0)
        out = 0
        for e, w in zip(best.tolist(), weights, strict=True):
            hidden = torch.relu(x[n] @ experts.widen[e])
            out = out + w * (hidden @ experts.narrow[e]) * (16 / 8) ** -0.5
        rows.append(out)
    weight = torch.randn(40, 8)
    (torch.stack(rows) * weight).sum().backward()
    named = {"x": x, **dict(experts.named_parameters())}
    expected = {name: p.grad.clone() for name, p in named.items() if p.grad is not None}
    for parameter in named.values():
        parameter.grad = None
    torch.manual_seed(3)
    out, _ = experts(x)
    torch.testing.assert_close(out, torch.stack(rows), rtol=1e-4, atol=1e-5)
    (out * weight).sum().backward()
    for name, gradient in expected.items():
        torch.testing.assert_close(named[name].grad, gradient, rtol=1e-3, atol=1e-5)


@torch.no_grad()
def test_no_token_is_dropped_when_all_choose_one_expert(make_experts):
    experts = make_experts(active_experts=1).eval()
    experts.gate.weight.zero_()
    experts.gate.weight[4] = 1.0
    x = torch.rand(300, 8)
    out, gates = experts(x)
    assert gates.load_E.tolist() == [0, 0, 0, 0, 300, 0]
    expected = torch.relu(x @ experts.widen[4]) @ experts.narrow[4] * (16 / 8) ** -0.5
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_batch_mates_change_nothing(make_experts):
    experts, x = make_experts().eval(), torch.randn(30, 8)
    torch.testing.assert_close(experts(x)[0][:7], experts(x[:7])[0], rtol=1e-4, atol=1e-6)


def test_balance_lowers_the_imbalance(make_experts):
    experts, x = make_experts().train(), torch.randn(200, 8)
    optimizer = torch.optim.Adam(experts.parameters(), 0.03)
    values = []
    for _ in range(40):
        loss = experts.gates(x).imbalance()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        values.append(loss.item())
    assert values[-1] < 0.3 * values[0]


def test_gates_start_at_zero_and_noise_is_for_training():
    experts, x = Experts(SMALL), torch.randn(9, 8)
    assert not experts.gate.weight.any()
    assert not experts.noise.weight.any()
    experts.train()
    assert not torch.equal(experts(x)[0], experts(x)[0])
    experts.eval()
    assert torch.equal(experts(x)[0], experts(x)[0])


@torch.no_grad()
def test_half_precision_stays_close(make_experts):
    experts, x = make_experts().eval(), torch.randn(50, 8)
    exact = experts(x)[0]
    with torch.autocast("cpu", torch.bfloat16):
        near = experts(x)[0]
    assert near.dtype == torch.bfloat16
    assert (near.float() - exact).abs().max() < 0.05 * exact.abs().max()
