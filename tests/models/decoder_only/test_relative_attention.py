import pytest
import torch

from wikisum.models.decoder_only import relative_attention
from wikisum.models.decoder_only.relative_attention import RelativeAttention, RelativeScores
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings


def scores_one_by_one(query, position_query, key, table, visible):
    """Return what RelativeScores does, pair by pair."""
    rows, columns = query.shape[-2], key.shape[-2]
    score = torch.full((*query.shape[:-1], columns), -torch.inf, dtype=query.dtype)
    for i in range(rows):
        for j in range(columns):
            distance = columns - rows + i - j
            if distance < 0:
                continue
            content = (query[..., i, :] * key[..., j, :]).sum(-1)
            position = (position_query[..., i, :] * table[..., columns - 1 - distance, :]).sum(-1)
            is_seen = visible[:, None, i, j]
            score[..., i, j] = torch.where(is_seen, content + position, -torch.inf)
    return score


@pytest.mark.parametrize(("rows", "columns"), [(3, 7), (3, 3), (1, 1), (1, 4), (4, 6)])
def test_scores_and_gradients_are_those_of_single_pairs(rows, columns):
    torch.manual_seed(rows + columns)
    shapes = (2, 2, rows, 4), (2, 2, rows, 4), (2, 2, columns, 4), (2, columns, 4)
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    visible = torch.ones(2, rows, columns, dtype=torch.bool).tril(columns - rows)
    visible[1, :, 0] = rows == columns  # every query sees something
    literal = scores_one_by_one(*inputs, visible)
    found = RelativeScores.apply(*inputs, visible)
    torch.testing.assert_close(found, literal)
    weights = torch.randn_like(found)
    expected = torch.autograd.grad((literal.softmax(-1) * weights).sum(), inputs)
    given = torch.autograd.grad((found.softmax(-1) * weights).sum(), inputs)
    torch.testing.assert_close(given, expected)


def test_the_size_of_chunks_changes_nothing(monkeypatch):
    torch.manual_seed(0)
    settings = DecoderOnlySettings(width=16, heads=2, layers="X", block=4, memory=6, dropout=0.0)
    attention, layout = RelativeAttention(settings), Layout([11, 3, 9], torch.device("cpu"))
    x, biases = torch.randn(23, 16, requires_grad=True), torch.randn(2, 2, 8)
    found = []
    for size in (1, 200, 2**21):
        monkeypatch.setattr(relative_attention, "MAX_SCORES", size)
        out = attention(x, layout, biases)
        found.append((out, *torch.autograd.grad(out.square().sum(), x)))
    for one in found[1:]:
        torch.testing.assert_close(one, found[0])


@pytest.mark.parametrize("size", [6, 7, 8, 9, 17])
@torch.no_grad()
def test_steps_with_a_cache_find_the_same(size):
    torch.manual_seed(0)
    settings = DecoderOnlySettings(width=16, heads=2, layers="X", block=4, memory=6, dropout=0.0)
    attention = RelativeAttention(settings).eval()
    x, biases = torch.randn(size, 16), torch.randn(2, 2, 8)
    whole = attention(x, Layout([size], torch.device("cpu")), biases)
    cache = attention.start(x[:5], Layout([5], torch.device("cpu")), 1, size - 5)
    for step, position in enumerate(range(5, size)):
        x_BKW = x[position].view(1, 1, 16)
        found = attention.step(x_BKW, cache, torch.tensor([position]), step, biases)
        torch.testing.assert_close(found[0, 0], whole[position])


def test_it_computes_in_bfloat16():
    settings = DecoderOnlySettings(width=16, heads=2, layers="X", block=4, memory=4)
    attention, layout = RelativeAttention(settings), Layout([9], torch.device("cpu"))
    x, biases = torch.randn(9, 16, requires_grad=True), torch.randn(2, 2, 8, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        attention(x, layout, biases).sum().backward()
    assert x.grad is not None
    assert biases.grad is not None
    assert bool(x.grad.isfinite().all())
