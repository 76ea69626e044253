import itertools

import numpy as np
import pytest
from scipy import stats

from wikisum.models.evaluation.significance import bootstrap, interval, randomization_p, ratios


def means(*columns):
    """Values of systems over examples -> numerators and denominators, [N, K, 1] each."""
    values = np.array(columns, dtype=np.float64).T[:, :, None]
    return values, np.ones_like(values)


def parts(values):
    return np.stack([np.array(values, float), np.ones(len(values))], axis=1)[:, :, None]


def exact_p(gaps):
    """Over every way to swap."""
    sums = [abs(np.dot(signs, gaps)) for signs in itertools.product((-1, 1), repeat=len(gaps))]
    return np.mean([s >= abs(sum(gaps)) - 1e-9 for s in sums])


def test_bootstrap_of_two_examples_takes_its_three_values_as_often_as_chance_does():
    drawn = bootstrap(*means([0.0, 1.0]), 20_000, seed=1)[:, 0, 0]
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    assert counts / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


def test_systems_see_the_same_draws():
    one = np.random.default_rng(0).random(30)
    drawn = bootstrap(*means(one, one + 0.25), 200, seed=3)
    assert drawn[:, 1] - drawn[:, 0] == pytest.approx(0.25)
    assert bootstrap(*means(one), 50, seed=3) == pytest.approx(bootstrap(*means(one), 50, seed=3))


def test_intervals_agree_with_scipy():
    values = np.random.default_rng(0).gamma(2.0, size=60)
    low, high = interval(bootstrap(*means(values), 20_000, seed=1)[:, 0, 0])
    result = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=2)
    assert (low, high) == pytest.approx(tuple(result.confidence_interval), rel=0.01)


def test_a_ratio_of_sums_weighs_examples_by_their_denominator():
    over, under = np.array([[[10.0]], [[1.0]]]), np.array([[[5.0]], [[1.0]]])
    drawn = bootstrap(over, under, 400, seed=0)
    assert set(np.round(drawn.ravel(), 6)) == {2.0, 1.0, round(11 / 6, 6)}


def test_p_values_agree_with_every_swap_and_with_scipy():
    one = [0.9, 0.7, 0.8, 0.4, 0.6, 0.7, 0.5]
    other = [0.5, 0.6, 0.3, 0.5, 0.2, 0.6, 0.4]
    gaps = np.subtract(one, other)
    (p,) = randomization_p(parts(one), parts(other), 40_000, seed=0)
    assert p == pytest.approx(exact_p(gaps), abs=0.01)
    result = stats.permutation_test(
        (one, other), lambda a, b: np.mean(a) - np.mean(b), permutation_type="samples"
    )
    assert p == pytest.approx(result.pvalue, abs=0.01)


def test_a_system_does_not_differ_from_itself():
    values = parts([0.1, 0.5, 0.9])
    assert randomization_p(values, values, 100, seed=0).tolist() == [1.0]


def test_a_clear_difference_has_the_least_p_value():
    one, other = parts(np.full(40, 0.6)), parts(np.full(40, 0.5))
    assert randomization_p(one, other, 999, seed=0).tolist() == [1 / 1000]


def test_examples_of_one_system_alone_are_left_out():
    one, other = parts([0.9, 0.8, 0.7]), parts([0.1, 0.2, 0.0])
    other[2] = 0.0  # numerator and denominator: no figure
    first = randomization_p(one, other, 500, seed=0)
    assert first == pytest.approx(randomization_p(one[:2], other[:2], 500, seed=0), abs=0.1)
    nothing = np.zeros_like(other)
    assert np.isnan(randomization_p(one, nothing, 10, seed=0)).all()
    assert np.isnan(bootstrap(*(a[:, None] for a in (nothing[:, 0], nothing[:, 1])), 5, 0)).all()


def test_ratios_of_nothing_are_no_number():
    assert np.isnan(ratios(np.zeros(1), np.zeros(1))).all()
    assert np.isnan(interval(np.array([np.nan]))).all()
