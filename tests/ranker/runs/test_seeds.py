import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.runs.seeds import batch_seed

NUMBERS = st.integers(0, 10**9)


def test_seeds_stay_as_they_are():
    """A run that is resumed with a later version must draw the same."""
    assert batch_seed(0, 0) == 5_903_642_253_403_033_523
    assert batch_seed(0, 1) == 4_414_527_679_803_055_650
    assert batch_seed(1, 0) == 5_042_304_989_078_147_477


@given(NUMBERS, NUMBERS)
def test_torch_and_numpy_accept_every_seed(seed, number):
    found = batch_seed(seed, number)
    assert 0 <= found < 2**63
    torch.Generator().manual_seed(found)
    np.random.default_rng(found)


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS))
def test_different_batches_have_different_seeds(one, other):
    assert (batch_seed(*one) == batch_seed(*other)) == (one == other)


def test_digits_do_not_move_between_seed_and_number():
    assert batch_seed(1, 11) != batch_seed(11, 1)


def test_seeds_use_all_63_bits():
    seeds = [batch_seed(0, number) for number in range(2_000)]
    for bit in range(63):
        share = sum(seed >> bit & 1 for seed in seeds) / len(seeds)
        assert 0.4 < share < 0.6
