import itertools
import math

import numpy as np
import pytest
from scipy import stats

from wikisum.models.judging.report.significance import (
    anova,
    mcnemar_p,
    permutation_p,
    sign_p,
    tukey_p,
    welch_p,
)

GROUPS = [[24.5, 23.5, 26.4, 27.1, 29.9], [28.4, 34.2, 29.5, 32.2, 30.1],
          [26.1, 28.3, 24.3, 26.2, 27.8]]  # fmt: skip


def test_welch_by_its_formula():
    one, other = np.array(GROUPS[0]), np.array(GROUPS[1])[:4]
    a, b = one.var(ddof=1) / len(one), other.var(ddof=1) / len(other)
    t = (one.mean() - other.mean()) / math.sqrt(a + b)
    freedom = (a + b) ** 2 / (a**2 / (len(one) - 1) + b**2 / (len(other) - 1))
    assert welch_p(one, other) == pytest.approx(2 * stats.t.sf(abs(t), freedom))


def test_welch_of_a_group_without_variance_by_hand():
    # t = 1.5 / (0.5 / sqrt(2)), with the single degree of freedom of the group that varies
    assert welch_p([2.0, 3.0], [1.0, 1.0, 1.0]) == pytest.approx(2 * stats.t.sf(3, 1))


def test_anova_and_tukey_of_a_published_example():
    # the example of NIST's handbook that scipy documents: HSD p of 0.014, 0.980, 0.020
    f, p = anova(GROUPS)
    assert (f, p) == pytest.approx(tuple(stats.f_oneway(*GROUPS)))
    assert [round(v, 3) for v in tukey_p(GROUPS).values()] == [0.014, 0.980, 0.020]
    assert list(tukey_p(GROUPS)) == [(0, 1), (0, 2), (1, 2)]


def test_permutation_of_few_differences_is_exact():
    differences = [0.5, 1.0, -0.25, 2.0]
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((-1, 1), repeat=4)]  # fmt: skip
    exact = np.mean([s >= abs(sum(differences)) - 1e-12 for s in sums])
    assert permutation_p(differences, 1000, 0) == pytest.approx(exact)
    assert permutation_p([1, 1, 1, 1, 1], 1000, 0) == pytest.approx(2 / 32)


def test_permutation_of_many_is_sampled_by_a_seed():
    differences = list(np.random.default_rng(0).normal(0.1, 1, 60))
    one, again, other = (permutation_p(differences, 2000, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert one == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.02)


def test_sign_and_mcnemar_by_hand():
    assert sign_p(5, 0) == pytest.approx(2 / 32)
    assert sign_p(3, 1) == pytest.approx(2 * 5 / 16)
    one, other = [True] * 6 + [False, True], [False] * 5 + [True, True, True]
    assert mcnemar_p(one, other) == pytest.approx(2 * (1 + 6) / 64)


def test_too_few_values_have_no_p():
    nothing = [
        *(welch_p([1], [2, 3]), welch_p([1, 1], [1, 1])),
        *(sign_p(0, 0), mcnemar_p([True], [True]), permutation_p([1], 9, 0)),
        *(anova([[1, 2]]) + anova([[1, 1], [2, 2]])),
        *tukey_p([[1, 2], [3]]).values(),
    ]
    assert all(map(math.isnan, nothing))
    assert len(nothing) == 10
