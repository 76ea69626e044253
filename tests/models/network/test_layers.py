from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from wikisum.models.network.layers import (
    NORM_EPSILON,
    DecoderLayer,
    FeedForward,
    LocalLayer,
    Residual,
    TargetSlots,
)

WIDTH, FEEDFORWARD, HEADS = 8, 12, 2


def settings(pre_norm=False, **changes):
    plain = {
        "width": WIDTH, "feedforward": FEEDFORWARD, "heads": HEADS, "dropout": 0.0,
        "attention_dropout": 0.0, "pre_norm": pre_norm, "bias": True,
        "feedforward_dropout": True,
    }  # fmt: skip
    return SimpleNamespace(**plain | changes)


def randomized(layer):
    torch.manual_seed(0)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    return layer.double().eval()


def draw(*shape):
    return torch.randn(*shape, WIDTH, dtype=torch.double)


def copied_attention(own, other):
    parts = own.query, own.key, own.value
    other.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
    other.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    other.out_proj.load_state_dict(own.output.state_dict())


@torch.no_grad()
def copied(own, other, attentions, norms):
    """torch's own layer with the weights of one of ours."""
    for mine, theirs in attentions:
        copied_attention(mine, theirs)
    other.linear1.load_state_dict(own.feedforward[0].state_dict())
    other.linear2.load_state_dict(own.feedforward[3].state_dict())
    for mine, theirs in norms:
        theirs.load_state_dict(mine.norm.state_dict())
    return other.double().eval()


SHAPE = {"dropout": 0.0, "batch_first": True, "layer_norm_eps": NORM_EPSILON}


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_residual_normalizes_before_or_after(pre_norm):
    layer, x = randomized(Residual(settings(pre_norm))), draw(3)
    weight = layer.norm.weight, layer.norm.bias

    def norm(values):
        return F.layer_norm(values, (WIDTH,), *weight, 1e-6)

    expected = x + torch.sin(norm(x)) if pre_norm else norm(x + torch.sin(x))
    torch.testing.assert_close(layer(x, torch.sin), expected)


def test_feed_forward_by_hand():
    layer, x = randomized(FeedForward(settings())), draw(3)
    inner = (x @ layer[0].weight.T + layer[0].bias).clamp(min=0)
    torch.testing.assert_close(layer(x), inner @ layer[3].weight.T + layer[3].bias)
    assert layer[0].out_features == FEEDFORWARD


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_local_layer_is_torchs_encoder_layer_on_each_paragraph(pre_norm, make_source):
    own = randomized(LocalLayer(settings(pre_norm)))
    theirs = nn.TransformerEncoderLayer(WIDTH, HEADS, FEEDFORWARD, norm_first=pre_norm, **SHAPE)
    norms = [(own.to_attention, theirs.norm1), (own.to_feedforward, theirs.norm2)]
    copied(own, theirs, [(own.attention, theirs.self_attn)], norms)
    x = draw(6)
    parts = [theirs(part[None])[0] for part in (x[:3], x[3:4], x[4:])]
    torch.testing.assert_close(own(x, make_source([3, 1], [2])), torch.cat(parts))


@pytest.mark.parametrize("pre_norm", [False, True])
def test_a_decoder_layer_is_torchs(pre_norm):
    own = randomized(DecoderLayer(settings(pre_norm)))
    theirs = nn.TransformerDecoderLayer(WIDTH, HEADS, FEEDFORWARD, norm_first=pre_norm, **SHAPE)
    attentions = [
        (own.self_attention, theirs.self_attn), (own.cross_attention, theirs.multihead_attn),
    ]  # fmt: skip
    norms = [
        (own.to_self, theirs.norm1), (own.to_cross, theirs.norm2),
        (own.to_feedforward, theirs.norm3),
    ]  # fmt: skip
    copied(own, theirs, attentions, norms)
    x, memory = draw(2, 3), draw(2, 4)
    is_source = torch.tensor([[True] * 4, [True, True, False, False]])
    later = torch.ones(3, 3, dtype=torch.bool).triu(1)
    expected = theirs(x, memory, tgt_mask=later, memory_key_padding_mask=~is_source)
    slots = TargetSlots(torch.arange(6), torch.ones(2, 3, dtype=torch.bool))
    remembered = own.cross_attention.remember(memory, is_source)
    found = own(x.flatten(0, 1), slots, remembered)
    torch.testing.assert_close(found.view(2, 3, WIDTH), expected)
    weights = own.source_weights(x.flatten(0, 1), slots, remembered)
    assert weights.shape == (2, 3, 4)
    assert (weights[1, :, 2:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3).double())
