import pytest
import torch
from torch.autograd import gradcheck

from wikisum.models.network.additive_attention import additive_scores


def inputs(queries, dtype=torch.double):
    torch.manual_seed(0)
    shapes = (2, queries, 3), (2, 4, 3), (3,), (2, queries, 4), (3,)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("queries", [1, 3])
def test_scores_and_gradients_with_coverage(queries):
    query, key, v, coverage, covered = inputs(queries)
    for b, k, place in [(0, 0, 1), (1, queries - 1, 3)]:
        feature = (query[b, k] + key[b, place] + coverage[b, k, place] * covered).tanh()
        found = additive_scores(query, key, v, coverage, covered)[b, k, place]
        torch.testing.assert_close(found, v @ feature)
    assert gradcheck(additive_scores, inputs(queries))


@pytest.mark.parametrize("queries", [1, 3])
def test_without_coverage_its_weights_have_no_influence(queries):
    query, key, v, _, covered = inputs(queries)
    found = additive_scores(query, key, v, None, covered)
    torch.testing.assert_close(found, (query[:, :, None] + key[:, None]).tanh() @ v)
    found.sum().backward()
    assert covered.grad.tolist() == [0, 0, 0]
    assert gradcheck(lambda *x: additive_scores(*x, None, covered), [query, key, v])


def test_half_precision_stays_close():
    query, key, v, coverage, covered = inputs(2, torch.float)
    exact = additive_scores(query, key, v, coverage, covered)
    near = additive_scores(query.bfloat16(), key.bfloat16(), v, coverage, covered)
    assert near.dtype == torch.bfloat16
    torch.testing.assert_close(near.float(), exact, rtol=0.05, atol=0.05)
    near.sum().backward()
    assert query.grad.dtype == v.grad.dtype == torch.float
    found = [x.grad.clone() for x in (query, key, v, coverage, covered)]
    expected = torch.autograd.grad(exact.sum(), [query, key, v, coverage, covered])
    for mine, true in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, true, rtol=0.1, atol=0.1)
