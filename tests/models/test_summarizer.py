import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))
import literal

FORMS = {
    "paper": {},
    "released": {"released": True, "pre_norm": True},
    "pre-norm": {"pre_norm": True},
    "no paragraph position": {"paragraph_position": False},
    "one pooling head": {"pooling_heads": 1},
    "no global layer": {"layers": "LL"},
    "global first": {"layers": "GLG"},
    "no bias": {"bias": False, "output_bias": False, "scale_embeddings": False},
    "flat": {"model": "ft", "layers": "LL"},
}


@pytest.fixture
def target():
    return torch.tensor([[2, 7, 9, 30, 8], [2, 11, 12, 0, 0]])


@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_agrees_with_the_equations(form, make_model, make_source, target):
    model = make_model(**FORMS[form])
    source = make_source([7], [4]) if form == "flat" else make_source([5, 3, 1], [4])
    examples = literal.encode(model, source)
    encoded = model.encode_tokens(source)
    torch.testing.assert_close(encoded, literal.packed(examples), rtol=1e-4, atol=1e-5)
    logits = model.logits(model(source, target))
    for row, (paragraphs, length) in enumerate(zip(examples, (5, 3), strict=True)):
        expected = literal.decode(model, target[row, :length], torch.cat(paragraphs))
        torch.testing.assert_close(logits[row, :length], expected, rtol=1e-4, atol=1e-4)


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


@pytest.mark.parametrize("form", ["paper", "released", "flat"])
@torch.no_grad()
def test_batch_mates_change_nothing(form, make_model, make_source, target):
    model = make_model(**FORMS[form])
    first = [9] if form == "flat" else [5, 3, 1]
    alone = model(make_source(first), target[:1])
    mates = [[20], [2]] if form == "flat" else [[9, 9, 2, 7, 1], [1]]
    together = model(make_source(first, *mates), target[[0, 1, 1]])
    torch.testing.assert_close(together[0], alone[0], rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_no_place_sees_what_comes_later(make_model, make_source, target):
    model = make_model()
    source = make_source([5, 3], [4])
    before = model(source, target)
    for place in range(1, 5):
        changed = target.clone()
        changed[:, place] = 40
        after = model(source, changed)
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.allclose(after[:, place], before[:, place])


@pytest.mark.parametrize("form", ["paper", "released", "flat"])
@torch.no_grad()
def test_steps_with_a_cache_give_the_same_logits(form, make_model, make_source):
    model = make_model(**FORMS[form])
    source = make_source([9], [4]) if form == "flat" else make_source([5, 3], [4])
    target_BKS = torch.randint(6, 50, (2, 3, 7))
    target_BKS[..., 0] = 2
    memory = model.encode(source)
    caches = model.empty_caches(2, 3, 7)
    # hypotheses that change places: slot of the past of each at each step
    place_BKS = torch.arange(3).expand(2, 3)[..., None].repeat(1, 1, 7)
    for step in range(7):
        mask = (place_BKS[..., : step + 1, None] == torch.arange(3)).flatten(2)
        logits = model.step(target_BKS[..., step], step, caches, mask, memory)
        for k in range(3):
            whole = model.logits(model.decode(target_BKS[:, k, : step + 1], memory))
            torch.testing.assert_close(logits[:, k], whole[:, -1], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_source_weights_are_shares(make_model, make_source, target):
    model = make_model()
    source = make_source([5, 3], [4])
    weights = model.source_weights(target, model.encode(source))
    assert weights.shape == (2, 5, 8)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5))
    assert (weights[1, :, 4:] == 0).all()


@torch.no_grad()
def test_half_precision_stays_close(make_model, make_source, target):
    model = make_model()
    source = make_source([5, 3], [4])
    exact = model.logits(model(source, target)).log_softmax(-1)
    with torch.autocast("cpu", torch.bfloat16):
        near = model.logits(model(source, target)).float().log_softmax(-1)
    assert (exact - near).abs().max() < 0.15


def test_every_parameter_learns(make_model, make_source, target):
    model = make_model()
    model(make_source([5, 3], [4]), target).square().sum().backward()
    idle = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum()]
    assert idle == ["output_bias"]  # it has its part in the loss, not here
