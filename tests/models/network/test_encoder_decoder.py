import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.network import packing
from wikisum.models.network.flat_transformer import FlatEncoder, FlatSettings
from wikisum.models.network.hierarchical_transformer import (
    GlobalLayer,
    HierarchicalEncoder,
    HierarchicalSettings,
    InterParagraphAttention,
    MultiHeadPooling,
)
from wikisum.models.network.layers import FeedForward, LocalLayer, Residual
from wikisum.models.table import build

sys.path.insert(0, str(Path(__file__).parent))
import literal

SMALL = HierarchicalSettings(
    vocab_size=50, width=16, feedforward=32, heads=4, layers="LG", decoder_layers=1, dropout=0.0
)


def flat_encoder(settings):
    shape = dataclasses.asdict(settings)
    names = {field.name for field in dataclasses.fields(FlatSettings)}
    return FlatEncoder(FlatSettings(**{n: v for n, v in shape.items() if n in names}))


class Decoding(torch.nn.Module):
    """A whole model as a function of the source."""

    def __init__(self, settings):
        super().__init__()
        self.model = build(settings)
        self.dropout = self.model.dropout

    def forward(self, source):
        target = torch.tensor([[2, 7, 9], [2, 11, 12]])
        return self.model.decode(target, self.model.encode(source))


FORMS = {
    "paper": {},
    "released": {"released": True, "pre_norm": True},
    "pre-norm": {"pre_norm": True},
    "no paragraph position": {"paragraph_position": False},
    "one pooling head": {"pooling_heads": 1},
    "no global layer": {"layers": "LL"},
    "global first": {"layers": "GLG"},
    "no bias": {"bias": False, "output_bias": False, "scale_embeddings": False},
    "flat": {"name": "ft", "encoder_layers": 2},
}


@pytest.fixture
def target():
    return torch.tensor([[2, 7, 9, 30, 8], [2, 11, 12, 0, 0]])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_agrees_with_the_equations(form, make_model, make_source, target):
    model = make_model(**FORMS[form])
    source = make_source([7], [4]) if form == "flat" else make_source([5, 3, 1], [4])
    examples = literal.encode(model, source)
    encoded = model.encode_tokens(source)
    torch.testing.assert_close(encoded, literal.packed(examples), rtol=1e-4, atol=1e-5)
    logits = model.logits(model.decode(target, model.encode(source)))
    for row, (paragraphs, length) in enumerate(zip(examples, (5, 3), strict=True)):
        expected = literal.decode(model, target[row, :length], torch.cat(paragraphs))
        torch.testing.assert_close(logits[row, :length], expected, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_there_may_be_more_paragraphs_than_tokens_in_each(make_model, make_source):
    model, source = make_model(), make_source([1, 2, 1, 1, 2])
    expected = literal.packed(literal.encode(model, source))
    torch.testing.assert_close(model.encode_tokens(source), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("form", ["paper", "released", "flat"])
@torch.no_grad()
def test_batch_mates_change_nothing(form, make_model, make_source, target):
    model = make_model(**FORMS[form])
    first = [9] if form == "flat" else [5, 3, 1]
    alone = model.decode(target[:1], model.encode(make_source(first)))
    mates = [[20], [2]] if form == "flat" else [[9, 9, 2, 7, 1], [1]]
    together = model.decode(target[[0, 1, 1]], model.encode(make_source(first, *mates)))
    torch.testing.assert_close(together[0], alone[0], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_some_places_alone_are_decoded_as_among_all(make_model, make_source, target):
    model, source = make_model(), make_source([5, 3], [4])
    whole = model.decode(target, model.encode(source)).flatten(0, 1)
    slots = torch.tensor([0, 1, 2, 5, 6, 7, 8])
    torch.testing.assert_close(
        model.decode(target, model.encode(source), slots), whole[slots], rtol=1e-4, atol=1e-5
    )


@torch.no_grad()
def test_groups_of_paragraphs_change_nothing(make_model, make_source, monkeypatch):
    model = make_model(layers="LGL")
    lengths = [40, 3, 17, 22, 1], [30, 31, 5]
    one = make_source(*lengths)
    monkeypatch.setattr(packing, "MIN_GROUP_TOKENS", 1)
    some = make_source(*lengths)
    assert len(some.groups) > 4 > len(one.groups)
    found, expected = model.encode_tokens(some), model.encode_tokens(one)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_no_place_sees_what_comes_later(make_model, make_source, target):
    model = make_model()
    source = make_source([5, 3], [4])
    before = model.decode(target, model.encode(source))
    for place in range(1, 5):
        changed = target.clone()
        changed[:, place] = 40
        after = model.decode(changed, model.encode(source))
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.allclose(after[:, place], before[:, place])


@pytest.mark.parametrize("form", ["paper", "released", "flat"])
@torch.no_grad()
def test_steps_with_a_cache_give_the_same_logits(form, make_model, make_source):
    model = make_model(**FORMS[form])
    source = make_source([9], [4]) if form == "flat" else make_source([5, 3], [4])
    memory = model.encode(source)
    state = model.start(memory, 3, 7)
    token_BKS = torch.full((2, 3, 1), 2)
    for _ in range(7):
        logits = model.step(token_BKS[..., -1], state)
        for k in range(3):
            whole = model.logits(model.decode(token_BKS[:, k], memory))
            torch.testing.assert_close(logits[:, k], whole[:, -1], rtol=1e-4, atol=1e-4)
        parent_BK = torch.randint(3, (2, 3))  # hypotheses continue each other's past
        state.reorder(parent_BK)
        past_BKS = token_BKS.take_along_dim(parent_BK[..., None], 1)
        token_BKS = torch.cat([past_BKS, torch.randint(6, 50, (2, 3, 1))], -1)


@pytest.mark.parametrize("form", ["paper", "pre-norm"])
@torch.no_grad()
def test_source_weights_are_those_of_the_layers(form, make_model, make_source, target):
    model = make_model(**FORMS[form])
    source = make_source([5, 3], [4])
    batch = collate([[np.zeros(1, np.uint16)]] * 2, [np.zeros(4, np.uint16)] * 2, [0, 1])
    batch = batch._replace(source=source, target_BS=target)
    weights = model.source_attention(batch, model.encode(source))
    assert weights.shape == (2, 5, 8)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))
    assert (weights[1, :, 4:] == 0).all()
    memory = torch.cat(literal.encode(model, source)[0])
    result = []
    literal.decode(model, target[0], memory, result)
    torch.testing.assert_close(weights[0], torch.stack(result).mean((0, 2)), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_half_precision_stays_close(make_model, make_source, target):
    model = make_model()
    source = make_source([5, 3], [4])
    exact = model.logits(model.decode(target, model.encode(source))).log_softmax(-1)
    with torch.autocast("cpu", torch.bfloat16):
        near = model.logits(model.decode(target, model.encode(source))).float().log_softmax(-1)
    assert (exact - near).abs().max() < 0.15


PARTS = {
    "pooling": (MultiHeadPooling, lambda x, source: (x, source)),
    "between paragraphs": (
        InterParagraphAttention,
        lambda x, source: (x[:4].view(4, 4, 4), source),
    ),
    "context": (GlobalLayer, lambda x, source: (x, source)),
    "attention": (LocalLayer, lambda x, source: (x, source)),
    "step": (Residual, lambda x, source: (x, torch.sin)),
    "feed-forward": (FeedForward, lambda x, source: (x,)),
    "flat source": (flat_encoder, lambda x, source: (x, source)),
    "source": (HierarchicalEncoder, lambda x, source: (x, source)),
    "target": (Decoding, lambda x, source: (source,)),
}


@pytest.mark.parametrize("name", PARTS)
def test_dropout_works_in_each_place_and_in_training_alone(name, make_source):
    """Where a part has dropout of its own, the parts inside it having none."""
    torch.manual_seed(0)
    kind, arguments = PARTS[name]
    part = kind(dataclasses.replace(SMALL, dropout=0.5, attention_dropout=0.5))
    for parameter in part.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    for child in part.children():
        child.train(name in ("feed-forward", "attention"))
    for child in [part.dropout] if hasattr(part, "dropout") else []:
        child.train()
    given = arguments(torch.randn(13, 16), make_source([5, 3, 1], [4]))
    assert not torch.equal(part(*given), part(*given))
    part.eval()
    assert torch.equal(part(*given), part(*given))


def test_weights_start_as_they_should():
    """Embeddings of unit variance when scaled; other matrices by Xavier's uniform rule."""
    shape = dataclasses.replace(SMALL, vocab_size=4_000, width=64, feedforward=256)
    model = build(shape)
    assert model.embedding.weight.std().item() * 8 == pytest.approx(1, rel=0.02)
    first = model.decoder[0].feedforward[0].weight
    assert first.abs().max().item() == pytest.approx((6 / (64 + 256)) ** 0.5, rel=0.01)
    assert not model.output_bias.any()
    heads = model.encoder.layers[1].attention  # of 4, as wide as 16
    assert heads.weight.abs().max().item() == pytest.approx((6 / (16 + 16)) ** 0.5, rel=0.01)
    released = build(dataclasses.replace(shape, released=True))
    table = released.embedding.weight
    assert table.abs().max().item() == pytest.approx((6 / (4_000 + 64)) ** 0.5, rel=0.01)


def test_every_parameter_learns(make_model, make_source, target):
    model = make_model()
    model.decode(target, model.encode(make_source([5, 3], [4]))).square().sum().backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert idle == ["output_bias"]  # it has its part in the loss, not here


@pytest.mark.parametrize("kind", ["ht", "ft"])
def test_embeddings_of_every_transformer_start_alike(kind, small):
    model = build(dataclasses.replace(small[kind], vocab_size=4_000, width=64, feedforward=64))
    assert model.embedding.weight.std().item() * 8 == pytest.approx(1, rel=0.02)
