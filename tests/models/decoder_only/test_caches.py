import torch

from wikisum.models.decoder_only.caches import Cache, attend, put


def test_own_tensors_follow_their_hypotheses_and_prompts_stay():
    own = torch.arange(6.0).view(2, 3, 1)
    cache = Cache((torch.tensor([7.0, 8.0]),), (own,))
    moved = cache.reordered(torch.tensor([[2, 0, 0], [1, 1, 2]]))
    assert moved.written[0][..., 0].tolist() == [[2, 0, 0], [4, 4, 5]]
    assert moved.prompt[0].tolist() == [7, 8]


def test_the_rows_of_some_examples():
    cache = Cache((torch.tensor([7.0, 8.0]),), (torch.arange(6.0).view(2, 3),))
    kept = cache.rows(torch.tensor([False, True]))
    assert kept.prompt[0].tolist() == [8]
    assert kept.written[0].tolist() == [[3, 4, 5]]


def _parts(seed=0, bias=False):
    random = torch.Generator().manual_seed(seed)
    query = torch.randn(2, 3, 2, 4, generator=random)
    prompt = [torch.randn(2, 2, 5, 4, generator=random) for _ in range(2)]
    own = [torch.randn(2, 3, 2, 3, 4, generator=random) for _ in range(2)]
    visible = torch.tensor([[1, 1, 0, 1, 0], [1, 1, 1, 1, 1]]).bool()
    visible_own = torch.tensor([[1, 0, 0], [1, 1, 0]]).bool()
    return query, (*prompt, visible), (*own, visible_own), torch.randn(2, 3, 2, 3, generator=random)


def _one_query(query_D, keys_MD, values_MD, bias_M):
    weights = ((keys_MD @ query_D) / 2 + bias_M).softmax(0)  # 2: the root of a head's width
    return weights @ values_MD


def test_attention_over_both_parts_is_that_over_their_union():
    query, prompt, own, bias = _parts()
    found = attend(query, prompt, own, bias).view(2, 3, 2, 4)
    alone = attend(query, None, own).view(2, 3, 2, 4)
    for b in range(2):
        seen, seen_own = prompt[2][b], own[2][b]
        for k in range(3):
            for h in range(2):
                own_keys, own_values = (t[b, k, h][seen_own] for t in own[:2])
                keys = torch.cat([prompt[0][b, h][seen], own_keys])
                values = torch.cat([prompt[1][b, h][seen], own_values])
                added = torch.cat([torch.zeros(int(seen.sum())), bias[b, k, h][seen_own]])
                expected = _one_query(query[b, k, h], keys, values, added)
                torch.testing.assert_close(found[b, k, h], expected)
                expected = _one_query(query[b, k, h], own_keys, own_values, 0)
                torch.testing.assert_close(alone[b, k, h], expected)


def test_each_example_writes_at_its_own_index():
    whole = torch.zeros(2, 1, 3)
    put(whole, torch.tensor([2, 0]), torch.tensor([[5.0], [6.0]], dtype=torch.float64), dim=2)
    assert whole.tolist() == [[[0, 0, 5]], [[6, 0, 0]]]
