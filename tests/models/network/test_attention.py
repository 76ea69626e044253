import pytest
import torch
from torch import nn

from wikisum.models.network import attention
from wikisum.models.network.attention import Attention
from wikisum.models.network.settings import LayerSettings

ROWS, QUERIES, KEYS, WIDTH, HEADS = 2, 3, 5, 8, 2


def make(bias=True, dropout=0.0):
    torch.manual_seed(0)
    return (
        Attention(LayerSettings(width=WIDTH, heads=HEADS, attention_dropout=dropout, bias=bias))
        .double()
        .eval()
    )


def torchs(own):
    """torch's own layer with the same weights."""
    layer = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True, dtype=torch.double).eval()
    parts = own.query, own.key, own.value
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
        layer.out_proj.weight.copy_(own.output.weight)
        layer.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
        layer.out_proj.bias.copy_(own.output.bias)
    return layer


def draw(*shape):
    return torch.randn(*shape, WIDTH, dtype=torch.double)


def test_attention_and_its_weights_agree_with_torch():
    own = make()
    x, memory = draw(ROWS, QUERIES), draw(ROWS, KEYS)
    mask = torch.ones(ROWS, KEYS, dtype=torch.bool)
    mask[1, 3:] = False
    expected, weights = torchs(own)(
        x, memory, memory, key_padding_mask=~mask, average_attn_weights=False
    )
    keys_values = own.keys_values(memory)
    torch.testing.assert_close(own(x, keys_values, mask[:, None, None]), expected)
    found = own.weights(x, keys_values[0], mask[:, None, None])
    torch.testing.assert_close(found, weights)
    assert (found[1, :, :, 3:] == 0).all()
    torch.testing.assert_close(
        own.weights(x, keys_values[0], None).sum(-1), torch.ones(ROWS, HEADS, QUERIES).double()
    )


def test_causal_attention_agrees_with_torch():
    own, x = make(), draw(ROWS, QUERIES)
    later = torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1)
    expected, _ = torchs(own)(x, x, x, attn_mask=later)
    torch.testing.assert_close(own(x, own.keys_values(x), causal=True), expected)


def test_heads_lie_side_by_side():
    x = torch.arange(16.0).view(1, 2, WIDTH)
    found = make().split(x)
    assert found.shape == (1, HEADS, 2, WIDTH // HEADS)
    assert found[0, 1].tolist() == [[4, 5, 6, 7], [12, 13, 14, 15]]


@pytest.mark.parametrize("bias", [True, False])
def test_biases_are_a_choice(bias):
    names = {name for name, _ in make(bias).named_parameters() if name.endswith("bias")}
    assert names == ({f"{n}.bias" for n in ("query", "key", "value", "output")} if bias else set())
    x = draw(1, QUERIES)
    keys, values = make(bias).keys_values(x)
    own = make(bias)
    torch.testing.assert_close(keys, own.split(own.key(x)))
    torch.testing.assert_close(values, own.split(own.value(x)))


@pytest.mark.parametrize("causal", [False, True])
def test_unpadded_rows_attend_within_themselves(causal):
    """Three rows of 3, 2 and 1 tokens in two groups of masks."""
    own, x = make(), torch.randn(6, WIDTH, dtype=torch.double)
    masks = [torch.ones(1, 3, dtype=torch.bool), torch.tensor([[True, True], [True, False]])]
    slots = torch.tensor([0, 1, 2, 3, 4, 5])
    found = own.self_attention_varlen(x, slots, masks, causal)
    rows = x[:3], x[3:5], x[5:]
    expected = [own(row[None], own.keys_values(row[None]), causal=causal)[0] for row in rows]
    torch.testing.assert_close(found, torch.cat(expected))


def test_unpadded_queries_attend_to_padded_keys():
    own, x, memory = make(), torch.randn(4, WIDTH, dtype=torch.double), draw(ROWS, KEYS)
    is_used = torch.tensor([[True, True, True], [True, False, False]])
    is_key = torch.ones(ROWS, KEYS, dtype=torch.bool)
    is_key[0, 2:] = False
    slots = torch.tensor([0, 1, 2, 3])
    keys_values, mask = own.keys_values(memory), is_key[:, None, None]
    found = own.cross_attention_varlen(x, slots, is_used, keys_values, mask)
    first = own(x[None, :3], own.keys_values(memory[:1, :2]))[0]
    second = own(x[None, 3:], own.keys_values(memory[1:]))[0]
    torch.testing.assert_close(found, torch.cat([first, second]))


def test_dropout_is_for_training_only(monkeypatch):
    seen = []
    monkeypatch.setattr(attention, "dropout", lambda weights, share: seen.append(share) or weights)
    own, x = make(dropout=0.25), draw(1, QUERIES)
    own(x, own.keys_values(x))
    assert not seen
    own.train()
    own(x, own.keys_values(x))
    assert seen == [0.25]
