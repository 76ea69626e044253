import pytest
import torch
from torch import nn
from torch.nn import functional as F

from wikisum.models.hierarchical_decoder.word_attention import WordAttention
from wikisum.models.network import packing
from wikisum.models.network.settings import LayerSettings

EXAMPLES = ([5, 3, 1], [4], [2, 7])


@pytest.fixture
def attention():
    torch.manual_seed(0)
    layer = WordAttention(LayerSettings(width=8, heads=2)).eval()
    for part in (layer.query, layer.key, layer.value):
        nn.init.normal_(part.bias)
    return layer


def paragraphs_of(encoded_NW):
    """The encoded tokens of each paragraph of each example."""
    sizes = [size for lengths in EXAMPLES for size in lengths]
    parts = iter(torch.split(encoded_NW, sizes))
    return [[next(parts) for _ in lengths] for lengths in EXAMPLES]


@pytest.fixture
def encoded(make_source, monkeypatch):
    monkeypatch.setattr(packing, "MIN_GROUP_TOKENS", 1)
    source = make_source(*EXAMPLES)
    assert len(source.groups) > 3
    return source, torch.randn(len(source.id_N), 8)


@torch.no_grad()
def test_each_paragraph_is_attended_to_apart(attention, encoded):
    source, encoded_NW = encoded
    x_BSW = torch.randn(3, 4, 8)
    memory = attention.remember(encoded_NW, source)
    found_BPSW = attention.by_paragraph(x_BSW, memory)
    assert found_BPSW.shape == (3, 3, 4, 8)
    for example, paragraphs in enumerate(paragraphs_of(encoded_NW)):
        for rank, tokens_TW in enumerate(paragraphs):
            parts = attention.query(x_BSW[example]), attention.key(tokens_TW)
            query, key, value = (
                part.view(len(part), 2, 4).transpose(0, 1)
                for part in (*parts, attention.value(tokens_TW))
            )
            expected = F.scaled_dot_product_attention(query, key, value)
            torch.testing.assert_close(
                found_BPSW[example, rank], expected.transpose(0, 1).flatten(1)
            )
        assert not found_BPSW[example, len(paragraphs) :].any()


@torch.no_grad()
def test_examples_that_are_done_leave_the_memory(attention, encoded):
    source, encoded_NW = encoded
    x_BSW = torch.randn(3, 2, 8)
    memory = attention.remember(encoded_NW, source)
    whole = attention.by_paragraph(x_BSW, memory)
    for kept in ([0, 2], [1], [0, 1, 2]):
        index = torch.tensor(kept)
        found = attention.by_paragraph(x_BSW[index], memory.rows(index))
        torch.testing.assert_close(found, whole[index])


@torch.no_grad()
def test_attention_to_tokens_sums_to_the_share_of_their_paragraph(attention, encoded):
    source, encoded_NW = encoded
    x_BSW = torch.randn(3, 2, 8)
    share_BSP = torch.rand(3, 2, 3)
    memory = attention.remember(encoded_NW, source)
    weight_BSL = attention.token_weights(x_BSW, share_BSP, memory)
    assert weight_BSL.shape == (3, 2, 9)
    for example, lengths in enumerate(EXAMPLES):
        parts = torch.split(weight_BSL[example, :, : sum(lengths)], list(lengths), -1)
        sums_SP = torch.stack([part.sum(-1) for part in parts], -1)
        torch.testing.assert_close(sums_SP, share_BSP[example, :, : len(lengths)])
        assert not weight_BSL[example, :, sum(lengths) :].any()
