from wikisum.ranker.runs.seeds import batch_seed


def test_every_batch_of_every_run_has_its_own_seed():
    seeds = {batch_seed(seed, number) for seed in range(20) for number in range(50)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    assert batch_seed(1, 23) != batch_seed(12, 3)
