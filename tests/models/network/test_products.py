import pytest
import torch
from torch.nn import functional as F

from wikisum.models.network import products
from wikisum.models.network.products import Linear, linear


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch):
    monkeypatch.setattr(products, "WORTH_A_KERNEL", 1)


def drawn(*shape):
    return torch.randn(*shape, requires_grad=True)


def strided(rows, width):
    """A matrix that is neither contiguous nor the transpose of one that is."""
    return torch.randn(rows, 2 * width)[:, :width].detach().requires_grad_()


INPUTS = {
    "matrix": lambda: drawn(7, 6),
    "batch": lambda: drawn(2, 3, 6),
    "slice": lambda: strided(7, 6),
    "transpose": lambda: torch.randn(6, 7).T.detach().requires_grad_(),
    "no row": lambda: drawn(0, 6),
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("with_bias", [True, False])
def test_gives_what_torch_gives_and_its_gradients(name, with_bias):
    torch.manual_seed(0)
    x, weight, bias = INPUTS[name](), drawn(5, 6), drawn(5) if with_bias else None
    inputs = [t for t in (x, weight, bias) if t is not None]
    found, expected = linear(x, weight, bias), F.linear(x, weight, bias)
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected)
    toward = torch.randn(5, *expected.shape[:-1]).movedim(0, -1)  # strides that autograd may pass
    got = torch.autograd.grad((found * toward).sum(), inputs)
    torch.testing.assert_close(got, torch.autograd.grad((expected * toward).sum(), inputs))


def test_the_layer_is_the_one_of_torch():
    torch.manual_seed(0)
    ours, theirs, x = Linear(4, 3), torch.nn.Linear(4, 3), drawn(2, 4)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))


def test_leaves_half_precision_to_torch():
    x, weight = torch.randn(4, 6), torch.randn(5, 6)
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(x, weight).dtype == torch.bfloat16
    assert linear(x.double(), weight.double()).dtype == torch.float64
