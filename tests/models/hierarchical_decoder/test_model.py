import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.hierarchical_decoder.vertical import VerticalAttention
from wikisum.models.network import packing
from wikisum.models.table import build, preset

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "network"))
import literal
import literal_hierarchical

FORMS = {
    "paper": {"tie_output": False},
    "released": {"tie_output": False, "released": True},
    "pre-norm": {"pre_norm": True},
    "no bias": {"bias": False, "output_bias": False, "scale_embeddings": False},
}
KINDS = ("pht", "vht")
PARAGRAPHS = ([5, 3, 1], [4], [2, 7])


@pytest.fixture
def target():
    return torch.tensor([[2, 7, 9, 30, 8], [2, 11, 12, 0, 0], [2, 13, 14, 15, 0]])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_agrees_with_the_equations(kind, form, make_model, make_source, target, monkeypatch):
    monkeypatch.setattr(packing, "MIN_GROUP_TOKENS", 1)  # several groups of paragraphs
    model, source = make_model(kind, **FORMS[form]), make_source(*PARAGRAPHS)
    assert len(source.groups) > 3
    examples = literal.encode(model, source)
    logits = model.logits(model.decode(target, model.encode(source)))
    for row, (paragraphs, length) in enumerate(zip(examples, (5, 3, 4), strict=True)):
        expected = literal_hierarchical.decode(model, target[row, :length], paragraphs)
        torch.testing.assert_close(logits[row, :length], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_batch_mates_change_nothing(kind, make_model, make_source, target):
    model = make_model(kind)
    alone = model.decode(target[:1], model.encode(make_source([5, 3, 1])))
    source = make_source([5, 3, 1], [9, 9, 2, 7, 1], [1])
    for one in (source, source.as_one_group()):
        together = model.decode(target, model.encode(one))
        torch.testing.assert_close(together[0], alone[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_no_place_sees_what_comes_later(kind, make_model, make_source, target):
    model = make_model(kind)
    memory = model.encode(make_source(*PARAGRAPHS))
    before = model.decode(target, memory)
    for place in range(1, 5):
        changed = target.clone()
        changed[:, place] = 40
        after = model.decode(changed, memory)
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.allclose(after[:, place], before[:, place])


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_every_token_of_the_source_counts(kind, make_model, make_source, target):
    model, source = make_model(kind), make_source(*PARAGRAPHS)
    before = model.decode(target, model.encode(source))
    example_N = source.slot_in_example_N // source.is_source_BL.shape[1]
    for token in range(len(source.id_N)):
        ids = source.id_N.clone()
        ids[token] = 49 - ids[token] % 40
        after = model.decode(target, model.encode(source._replace(id_N=ids)))
        is_same = [torch.equal(after[e], before[e]) for e in range(3)]
        assert is_same == [e != example_N[token] for e in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["paper", "released"])
@torch.no_grad()
def test_steps_with_a_cache_give_the_same_logits(kind, form, make_model, make_source, monkeypatch):
    """Hypotheses continue each other's past, and examples that are done leave."""
    monkeypatch.setattr(packing, "MIN_GROUP_TOKENS", 1)
    torch.manual_seed(0)
    model = make_model(kind, **FORMS[form])
    memory = model.encode(make_source(*PARAGRAPHS, [40]))
    state = model.start(memory, 3, 7)
    kept = torch.arange(4)
    token_BKS = torch.full((4, 3, 1), 2)
    for step in range(7):
        logits = model.step(token_BKS[..., -1], state)
        for k in range(3):
            whole = model.logits(model.decode(token_BKS[:, k], memory.rows(kept)))
            torch.testing.assert_close(logits[:, k], whole[:, -1], rtol=1e-4, atol=1e-4)
        parent_BK = torch.randint(3, (len(kept), 3))
        state.reorder(parent_BK)
        past_BKS = token_BKS.take_along_dim(parent_BK[..., None], 1)
        token_BKS = torch.cat([past_BKS, torch.randint(6, 50, (len(kept), 3, 1))], -1)
        if step in (2, 4):  # the second example of four is done, then the last of three
            stay = torch.tensor([0, 2, 3] if step == 2 else [0, 1])
            state.select(stay)
            kept, token_BKS = kept[stay], token_BKS[stay]
    assert kept.tolist() == [0, 2]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["paper", "pre-norm"])
@torch.no_grad()
def test_source_attention_is_that_of_the_equations(kind, form, make_model, make_source, target):
    model, source = make_model(kind, **FORMS[form]), make_source(*PARAGRAPHS)
    empty = [np.zeros(1, np.uint16)]
    batch = collate([empty] * 3, [np.zeros(4, np.uint16)] * 3, [0, 1, 2])
    batch = batch._replace(source=source, target_BS=target)
    found = model.source_attention(batch, model.encode(source))
    assert found.shape == (3, 5, 9)
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 5))
    for row, paragraphs in enumerate(literal.encode(model, source)):
        result = []
        literal_hierarchical.decode(model, target[row], paragraphs, result)
        expected = torch.stack(result).mean(0)
        count = expected.shape[1]
        torch.testing.assert_close(found[row, :, :count], expected, rtol=1e-4, atol=1e-5)
        assert not found[row, :, count:].any()


@torch.no_grad()
def test_attention_in_an_example_of_one_paragraph_is_all_on_it(make_model, make_source, target):
    for kind in KINDS:
        model = make_model(kind)
        layer, memory = model.decoder[0], model.encode(make_source([4]))
        share = layer.cross_attention.attend(torch.randn(1, 5, 16), memory.layers[0])[1]
        torch.testing.assert_close(share, torch.ones(1, 5, 1))


def test_released_embeddings_start_in_the_range_of_its_framework(make_model):
    settings = preset("vht-released").model
    model = build(dataclasses.replace(settings, width=64, vocab_size=4_000, feedforward=64))
    table = model.embedding.weight
    assert table.abs().max().item() == pytest.approx(0.05, rel=1e-3)
    assert table.std().item() == pytest.approx(0.1 / 12**0.5, rel=0.02)
    assert isinstance(model.decoder[0].cross_attention, VerticalAttention)
