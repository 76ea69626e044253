import pytest
import torch
from torch.nn import functional as F

from wikisum.models.network import loss as loss_module
from wikisum.models.network.loss import cross_entropy, label_log_probabilities


@pytest.fixture
def parts():
    torch.manual_seed(0)
    x = torch.randn(37, 8, dtype=torch.float64, requires_grad=True)
    table = torch.randn(23, 8, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(23, dtype=torch.float64, requires_grad=True)
    return x, table, bias, torch.randint(1, 23, (37,))


def literal(x, table, bias, label, smoothing):
    """Kullback-Leibler form, without the entropy of the labels, which is a constant."""
    log = F.linear(x, table, bias).log_softmax(-1)
    goal = torch.full_like(log, smoothing / (log.shape[1] - 2))
    goal[:, 0] = 0
    goal[torch.arange(len(label)), label] = 1 - smoothing
    torch.testing.assert_close(goal.sum(1), torch.ones(len(label), dtype=goal.dtype))
    return -(goal * log).sum()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 5, 100])
def test_slices_give_the_whole_loss_and_its_gradients(parts, smoothing, rows, monkeypatch):
    monkeypatch.setattr(loss_module, "SLICE_POSITIONS", rows)
    *inputs, label = parts
    found = cross_entropy(*inputs, label, smoothing)
    expected = literal(*inputs, label, smoothing)
    assert found.smoothed.item() == pytest.approx(expected.item(), rel=1e-5)
    plain = F.cross_entropy(F.linear(*inputs), label, reduction="sum")
    assert found.plain.item() == pytest.approx(plain.item(), rel=1e-5)
    (found.smoothed / 3).backward()
    got = [t.grad.clone() for t in inputs]
    for tensor in inputs:
        tensor.grad = None
    (expected / 3).backward()
    for gradient, tensor in zip(got, inputs, strict=True):
        torch.testing.assert_close(gradient, tensor.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 5, 37])
def test_log_probabilities_of_labels(parts, count, monkeypatch):
    monkeypatch.setattr(loss_module, "SLICE_POSITIONS", 5)
    x, table, bias, label = parts
    found = label_log_probabilities(x[:count], table, bias, label[:count])
    expected = F.linear(x, table, bias).log_softmax(-1)[torch.arange(37), label][:count].float()
    torch.testing.assert_close(found, expected)


def test_agrees_with_torch_without_smoothing_bias_aside(parts):
    x, table, _, label = parts
    found = cross_entropy(x, table, None, label, 0.0).smoothed
    expected = F.cross_entropy(x @ table.T, label, reduction="sum")
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
