"""Dropout: shares and scale, the random numbers it takes, and its layer."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from wikisum.models.network.attention import Attention
from wikisum.models.network.dropout import LEVELS, Dropout, dropout, noise_like, relu_dropout
from wikisum.models.network.settings import LayerSettings


@given(st.floats(0, 1, exclude_max=True), st.sampled_from([torch.float32, torch.bfloat16]))
def test_factors_are_zero_or_keep_the_mean(share: float, dtype: torch.dtype) -> None:
    found = noise_like(torch.empty(3, 5, dtype=dtype), share)
    dropped = min(round(share * LEVELS), LEVELS - 1)
    kept = torch.tensor(LEVELS / (LEVELS - dropped), dtype=dtype)
    assert found.shape == (3, 5)
    assert found.dtype == dtype
    assert set(found.flatten().tolist()) <= {0.0, kept.item()}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_is_dropped(share: float) -> None:
    torch.manual_seed(0)
    is_dropped = noise_like(torch.empty(1 << 20), share) == 0
    # four standard deviations
    assert is_dropped.float().mean().item() == pytest.approx(share, abs=4 * 2**-11)
    # neighbors share the bits of one number, but drop independently
    both = (is_dropped[::2] & is_dropped[1::2]).float().mean().item()
    assert both == pytest.approx(share**2, abs=6 * 2**-11)


def test_the_seed_decides() -> None:
    x = torch.ones(7, 9)
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(dropout(x, 0.5))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def test_only_kept_numbers_have_a_gradient() -> None:
    x = torch.ones(100, requires_grad=True)
    out = dropout(x, 0.25)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, out)


def test_relu_with_dropout_is_that_of_both() -> None:
    x = torch.randn(40, 30, requires_grad=True)
    found = []
    for work in (lambda x: dropout(x.relu(), 0.3), lambda x: relu_dropout(x, 0.3)):
        torch.manual_seed(3)
        out = work(x * 1)
        (gradient,) = torch.autograd.grad((out * torch.arange(30.0)).sum(), x)
        found.append((out, gradient))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    for share, training in ((0.0, True), (0.3, False)):
        assert torch.equal(relu_dropout(x * 1, share, training), x.relu())


def test_relu_with_dropout_keeps_its_output_alone() -> None:
    kept: list[Tensor] = []
    x = torch.randn(40, 30, requires_grad=True) * 1
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        out = relu_dropout(x, 0.3)
    assert [t.data_ptr() for t in kept] == [out.data_ptr()]


def test_nothing_is_dropped_without_training_or_share() -> None:
    x = torch.ones(8)
    layer = Dropout(0.5)
    assert layer.eval()(x) is x
    assert dropout(x, 0.0) is x
    assert (layer.train()(torch.ones(200)) == 0).any()


@pytest.mark.parametrize("masked", ["none", "keys", "causal"])
def test_attention_with_dropout_is_attention(masked: str) -> None:
    """A share that rounds to 0 leaves attention as PyTorch's own has it."""
    torch.manual_seed(0)
    layer = Attention(LayerSettings(width=16, heads=2, attention_dropout=1e-9)).train()
    x_RQW = torch.randn(3, 5, 16)
    mask = torch.rand(3, 1, 1, 5) < 0.7
    mask[..., 0] = True
    used = mask if masked == "keys" else None
    query, memory = layer.split(layer.query(x_RQW)), layer.keys_values(x_RQW)
    found = layer.attend(query, memory, used, masked == "causal")
    expected = F.scaled_dot_product_attention(
        query, *memory, attn_mask=used, is_causal=masked == "causal"
    )
    torch.testing.assert_close(found, expected.transpose(1, 2).flatten(2))


def test_attention_drops_weights() -> None:
    torch.manual_seed(0)
    layer = Attention(LayerSettings(width=4, heads=1, attention_dropout=0.5)).train()
    query = torch.zeros(1, 1, 1, 4)
    values = torch.eye(4)[None, None]
    found = layer.attend(query, (torch.zeros(1, 1, 4, 4), values))  # even weights of 1/4
    assert set(found.flatten().tolist()) == {0.0, 0.5}
