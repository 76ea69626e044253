import numpy as np
import torch

from wikisum.models.network.packing import MIN_GROUP_TOKENS, pack, pad, scatter_rows, unpad


def test_tokens_know_their_places():
    source = pack([[np.array([7, 8]), np.array([9])], [np.array([5, 6, 4])]])
    assert source.id_N.tolist() == [7, 8, 9, 5, 6, 4]
    assert source.position_N.tolist() == [0, 1, 0, 0, 1, 2]
    assert source.rank_N.tolist() == [0, 0, 1, 0, 0, 0]
    assert source.paragraph_N.tolist() == [0, 0, 1, 2, 2, 2]
    assert source.is_paragraph_BP.tolist() == [[True, True], [True, False]]
    ids = pad(source.id_N[:, None], source.slot_in_example_N, source.is_source_BL)
    assert ids[..., 0].tolist() == [[7, 8, 9], [5, 6, 4]]
    ids = pad(source.id_N[:, None], source.slot_in_paragraph_N, source.is_token_MT)
    assert ids[..., 0].tolist() == [[7, 8, 0], [9, 0, 0], [5, 6, 4]]


def test_gathered_undoes_spread(make_source):
    source = make_source([5, 1, 3], [2], [4, 4])
    x = torch.randn(len(source.id_N), 3)
    for slot, mask in (
        (source.slot_in_paragraph_N, source.is_token_MT),
        (source.slot_in_example_N, source.is_source_BL),
    ):
        assert torch.equal(unpad(pad(x, slot, mask), slot), x)
        assert mask.sum() == len(x)


def test_graphs_are_padded_with_themselves(make_source):
    graph = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
    source = make_source([1, 1], [1, 1, 1], graphs=[graph, np.eye(3, dtype=np.float32)])
    assert source.graph_BPP[0].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert torch.allclose(source.graph_BPP.sum(-1), torch.ones(2, 3))


def test_groups_have_each_token_once_and_paragraphs_of_about_one_length():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 110, (9, 20))
    source = pack([[rng.integers(6, 50, n) for n in row] for row in lengths])
    is_real = torch.cat([mask.flatten() for mask in source.groups])
    laid = scatter_rows(source.id_N[:, None], source.slot_in_group_N, len(is_real))[:, 0]
    assert ((laid != 0) == is_real).all()
    assert torch.equal(laid[source.slot_in_group_N], source.id_N)
    rows = {(ids != 0).sum().item(): ids for mask in source.groups for ids in mask}
    assert set(rows) == set(lengths.flatten().tolist())
    assert 1 < len(source.groups) < 12
    for mask in source.groups[:-1]:
        is_small = (mask.shape[0] - 1) * mask.shape[1] < MIN_GROUP_TOKENS
        assert mask.sum(1).min() >= 0.8 * mask.shape[1] or is_small
    assert is_real.float().mean() > 0.85 > source.is_token_MT.float().mean()


def test_paragraphs_of_one_length_are_one_group(make_source):
    (mask,) = make_source([60, 60], [60] * 20).groups
    assert mask.shape == (22, 60)
    assert mask.all()
