import dataclasses
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.golden_settings import model_settings, stored
from tests.models.network import literal
from wikisum.models.network.hierarchical_transformer import (
    SPEC,
    HierarchicalEncoder,
    HierarchicalSettings,
    InterParagraphAttention,
    MultiHeadPooling,
)

SHAPE = HierarchicalSettings(width=4, heads=2, feedforward=8, layers="LG", dropout=0.0)


def test_presets_have_the_settings_that_were_published():
    assert model_settings(SPEC) == stored("ht")


@torch.no_grad()
def test_pooling_weighs_the_tokens_of_each_paragraph_by_hand(make_source):
    pooling = MultiHeadPooling(SHAPE)
    pooling.score.weight.zero_()  # all tokens weigh alike
    pooling.value.weight.copy_(torch.eye(4))
    pooling.mix.copy_(torch.eye(2).expand(2, 2, 2))
    x_NW = torch.tensor([[1.0, 5, 0, 2], [3, 7, 4, 2], [0, 1, 1, 0]])
    found = pooling(x_NW, make_source([2, 1]))
    means = torch.tensor([[[2.0, 6], [2, 2]], [[0, 1], [1, 0]]])
    torch.testing.assert_close(found, F.layer_norm(means, [2], eps=1e-6))
    # a score of log 3 gives the second token three times the weight of the first
    pooling.score.weight.copy_(torch.tensor([[0.5 * math.log(3), 0, 0, 0], [0, 0, 0, 0]]))
    found = pooling(x_NW, make_source([2, 1]))
    first = torch.tensor([[0.25 * 1 + 0.75 * 3, 0.25 * 5 + 0.75 * 7]])
    torch.testing.assert_close(found[0, :1], F.layer_norm(first, [2], eps=1e-6))


@pytest.mark.parametrize("released", [False, True])
@torch.no_grad()
def test_paragraphs_attend_to_those_of_their_example(released, make_source):
    torch.manual_seed(0)
    settings = dataclasses.replace(SHAPE, released=released)
    attention = InterParagraphAttention(settings)
    torch.nn.init.normal_(attention.weight)
    head_MZD = torch.randn(4, 2, 2)
    found = attention(head_MZD, make_source([1, 1, 1], [1])).view(4, 2, 2)
    for head in range(2):
        weight = attention.weight[0 if released else head]
        query, key, value = (head_MZD[:, head] @ weight.T).chunk(3, -1)
        for example in (slice(0, 3), slice(3, 4)):
            score = query[example] @ key[example].T * (2**-0.5 if released else 1)
            expected = score.softmax(-1) @ value[example]
            torch.testing.assert_close(found[example, head], expected)


@pytest.mark.parametrize("head", [0, 2, -1])
@torch.no_grad()
def test_a_head_follows_the_graph(head, make_model, make_source):
    graphs = [np.array([[0, 0.3, 0.7], [1, 0, 0], [0.5, 0.5, 0]], np.float32),
              np.ones((1, 1), np.float32)]  # fmt: skip
    model = make_model(graph="similarity", graph_head=head)
    source = make_source([5, 3, 1], [4], graphs=graphs)
    expected = literal.packed(literal.encode(model, source, graphs))
    torch.testing.assert_close(model.encode_tokens(source), expected, rtol=1e-4, atol=1e-5)
    without = literal.packed(literal.encode(model, source))
    assert not torch.allclose(expected, without)


def test_a_graph_head_needs_a_graph(make_model, make_source):
    with pytest.raises(ValueError, match="no graph"):
        make_model(graph="discourse").encode(make_source([2, 2]))


def test_half_of_a_position_is_the_rank_of_the_paragraph(make_source):
    encoder = HierarchicalEncoder(SHAPE)
    source = make_source([1, 3], [2])
    both = encoder._positions(torch.zeros(6, 4), source)
    for row, (rank, position) in enumerate([(0, 0), (1, 0), (1, 1), (1, 2), (0, 0), (0, 1)]):
        expected = [f(number) for number in (rank, position) for f in (math.sin, math.cos)]
        assert both[row].tolist() == pytest.approx(expected, abs=1e-6)
    encoder.paragraph_position = False
    alone = encoder._positions(torch.zeros(6, 4), source)
    assert alone[3].tolist() == pytest.approx(
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)], abs=1e-6
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "citations"}, "--graph must be one of none, similarity, discourse"),
        ({"layers": ""}, "--layers may only contain L and G"),
        ({"layers": "LGX"}, "--layers may only contain L and G"),
        ({"pooling_heads": 0}, "--pooling-heads must be at least 1, not 0"),
        ({"pooling_heads": 3}, "--width 4 does not divide into 3 pooling heads"),
        ({"graph": "similarity", "layers": "LL"}, "--graph similarity needs a global layer"),
        ({"graph": "similarity", "graph_head": 2}, "--graph-head 2: there are 2 heads"),
        ({"graph": "similarity", "graph_head": -3}, "--graph-head -3: there are 2 heads"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SHAPE, **changes)


def test_settings_at_the_limit_are_accepted():
    for head in (-2, 1):
        dataclasses.replace(SHAPE, graph="discourse", graph_head=head)
    assert dataclasses.replace(SHAPE, graph_head=7).pool_heads == 2  # no graph, no graph head
    assert dataclasses.replace(SHAPE, pooling_heads=1).pool_heads == 1


def test_the_preset_of_the_paper():
    paper = SPEC.presets["ht-paper"].model
    assert paper.layers == "LLLLLGG"
    assert (paper.width, paper.heads, paper.feedforward) == (256, 8, 1_024)
    assert not paper.released
