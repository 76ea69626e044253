import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn import functional as F

from wikisum.models.decoder_only.gating import NoisyScores, gates, squared_variation


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def scores(x, gate, noise, seed):
    """Clean and noisy scores and the noise's deviation, with the noise of a seed."""
    torch.manual_seed(seed)
    clean = x @ gate.T
    deviation = torch.log1p((x @ noise.T).exp()) + 0.01
    return clean, clean + torch.randn_like(clean) * deviation, deviation


@pytest.mark.parametrize("active", [1, 2, 3])
def test_load_is_that_of_the_equations(active):
    torch.manual_seed(0)
    x, gate, noise = torch.randn(7, 8), torch.randn(6, 8), torch.randn(6, 8)
    clean, noisy, deviation = scores(x, gate, noise, 5)
    load, importance = [0.0] * 6, [0.0] * 6
    for n in range(7):
        best = noisy[n].argsort(descending=True)[:active]
        for e, weight in zip(best.tolist(), noisy[n][best].softmax(0).tolist(), strict=True):
            importance[e] += weight
        for e in range(6):
            others = torch.cat([noisy[n, :e], noisy[n, e + 1 :]])
            kth = others.sort(descending=True).values[active - 1]  # equation 9: kth excluding e
            load[e] += normal_cdf((clean[n, e] - kth).item() / deviation[n, e].item())
    torch.manual_seed(5)
    found = gates(x, gate, noise, active, training=True)
    torch.testing.assert_close(found.load_E.tolist(), load, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found.importance_E.tolist(), importance, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("active", [1, 2, 4])
def test_gradients_are_those_of_finite_differences(active):
    torch.manual_seed(1)
    logits = torch.randn(9, 10, dtype=torch.double, requires_grad=True)
    noise = torch.randn(9, 5, dtype=torch.double)
    assert gradcheck(lambda x: NoisyScores.apply(x, noise, active)[::2], logits)


def test_gradients_are_those_of_single_operations():
    torch.manual_seed(2)
    logits, noise = torch.randn(30, 12, requires_grad=True), torch.randn(30, 6)
    weight_best, weight_load = torch.randn(30, 3), torch.randn(6)
    clean, rough = logits.chunk(2, 1)
    deviation = F.softplus(rough) + 0.01
    noisy = clean + noise * deviation
    best, _ = noisy.topk(3)
    to_beat = torch.where(noisy > best[:, 2:], best[:, 2:], best[:, 1:2])
    load = torch.special.ndtr((clean - to_beat) / deviation).sum(0)
    ((best * weight_best).sum() + (load * weight_load).sum()).backward()
    expected, logits.grad = logits.grad, None
    found_best, _, found_load = NoisyScores.apply(logits, noise, 2)
    torch.testing.assert_close(found_load, load)
    ((found_best * weight_best).sum() + (found_load * weight_load).sum()).backward()
    torch.testing.assert_close(logits.grad, expected, rtol=1e-4, atol=1e-5)


def test_every_expert_active_has_every_token():
    x, gate, noise = torch.randn(7, 8), torch.randn(3, 8), torch.randn(3, 8)
    assert gates(x, gate, noise, 3, training=True).load_E.tolist() == [7, 7, 7]


def test_squared_variation_by_hand():
    assert squared_variation(torch.tensor([1.0, 3.0])).item() == pytest.approx(1 / 4)
    assert squared_variation(torch.tensor([2.0, 2.0, 2.0])).item() == 0
