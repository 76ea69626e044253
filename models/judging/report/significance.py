"""The tests of the papers, from scipy; all two-sided. NaN where a test has too few values."""

import itertools
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

Pair = tuple[int, int]


def welch_p(one: Sequence[float], other: Sequence[float]) -> float:
    """Return p of Welch's t-test that two groups have the same mean.

    Used for linguistic quality by Liu et al. (2018).
    """
    if not _can_vary(one, other) or min(len(one), len(other)) < 2:
        return np.nan
    with warnings.catch_warnings():  # of a group whose values are all equal, which is harmless
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(stats.ttest_ind(one, other, equal_var=False).pvalue)


def anova(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return F and p of a one-way analysis of variance (Liu and Lapata 2019)."""
    if not _testable(groups):
        return np.nan, np.nan
    found = stats.f_oneway(*groups)
    return float(found.statistic), float(found.pvalue)


def tukey_p(groups: Sequence[Sequence[float]]) -> Mapping[Pair, float]:
    """Return p of each two groups by Tukey's HSD, which corrects for the number of pairs."""
    pairs = itertools.combinations(range(len(groups)), 2)
    if not _testable(groups):
        return dict.fromkeys(pairs, np.nan)
    p = stats.tukey_hsd(*groups).pvalue
    return {(i, j): float(p[i, j]) for i, j in pairs}


def permutation_p(differences: Sequence[float], samples: int, seed: int) -> float:
    """Return p that paired differences are symmetric around 0, by changing their signs.

    Exact if there are at most `samples` ways to do so.
    """
    if len(differences) < 2:
        return np.nan
    found = stats.permutation_test(
        (np.array(differences),),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=samples,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def sign_p(wins: int, losses: int) -> float:
    """Return p of the sign test: each of the two is as probable; ties do not count."""
    if wins + losses == 0:
        return np.nan
    return float(stats.binomtest(wins, wins + losses).pvalue)


def mcnemar_p(one: Sequence[bool], other: Sequence[bool]) -> float:
    """Return p of McNemar's exact test that two systems are right equally often.

    Each place is a question that both systems answered. Only questions count that one of the two
    got right.
    """
    pairs = list(zip(one, other, strict=True))
    return sign_p(pairs.count((True, False)), pairs.count((False, True)))


def _can_vary(*groups: Sequence[float]) -> bool:
    """Whether the values vary within a group; the tests divide by that variance."""
    return any(len(set(group)) > 1 for group in groups)


def _testable(groups: Sequence[Sequence[float]]) -> bool:
    return len(groups) > 1 and all(len(g) > 1 for g in groups) and _can_vary(*groups)
