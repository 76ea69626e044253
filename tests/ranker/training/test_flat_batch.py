import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.ranker.training.flat_batch import flatten_batch


def drawn_batch(with_graph):
    rng = np.random.default_rng(0)
    counts = (3, 1, 40)
    sources = [[rng.integers(6, 50, rng.integers(1, 90)) for _ in range(n)] for n in counts]
    leads = [rng.integers(6, 50, n) for n in (4, 0, 9)]
    graphs = [rng.random((n, n), np.float32) for n in counts] if with_graph else None
    return collate(sources, leads, [7, 8, 2], graphs)


@pytest.mark.parametrize("with_graph", [True, False])
def test_an_opened_parcel_is_the_batch(with_graph):
    batch = drawn_batch(with_graph)
    sent = flatten_batch(batch)
    assert len(sent.flat) == 2 + with_graph
    opened = sent.unflatten()
    assert len(batch.source.groups) == len(opened.source.groups) > 1
    assert (opened.source.graph_BPP is not None) == with_graph
    before, after = ([*b[1:], *b.source.tensors()] for b in (batch, opened))
    for one, other in zip(before, after, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
    assert all(
        torch.equal(a, b) for a, b in zip(batch.source[:10], opened.source[:10], strict=True)
    )
