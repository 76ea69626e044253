"""Intervals and paired tests over examples, by resampling; seeded, so that a rerun agrees.

A figure is a ratio of two sums over examples (`models/metrics.py`). Legend: N examples, K systems,
M metrics, R resamples.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

INTERVAL_PERCENT = (2.5, 97.5)
_DRAWS_AT_ONCE = 1 << 21
_EQUAL = 1e-12


def ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Return the ratios element by element; NaN where a denominator is 0."""
    nothing = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    return np.divide(numerators, denominators, out=nothing, where=denominators > 0)


def _chunks(samples: int, size: int) -> Iterator[int]:
    """Yield how many resamples to draw at a time, which bounds memory."""
    rows = max(1, _DRAWS_AT_ONCE // max(size, 1))
    for done in range(0, samples, rows):
        yield min(rows, samples - done)


def bootstrap(numerators_NKM: Floats, denominators_NKM: Floats, samples: int, seed: int) -> Floats:
    """[R, K, M]: every figure over examples drawn with replacement (Efron 1979).

    All systems see the same draws, so that the difference of two systems is a paired figure.
    """
    size = len(numerators_NKM)
    shape = numerators_NKM.shape[1:]
    columns = [numerators_NKM.reshape(size, -1), denominators_NKM.reshape(size, -1)]
    # few denominators differ, so that the products below are of half as many columns
    distinct, inverse = np.unique(np.concatenate(columns, axis=1), axis=1, return_inverse=True)
    source = np.random.default_rng(seed)
    found = []
    for rows in _chunks(samples, size):
        drawn = source.integers(0, size, (rows, size)) + size * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
        sums = (counts.astype(np.float64) @ distinct)[:, inverse.ravel()]
        over, under = np.split(sums, 2, axis=1)
        found.append(ratios(over, under).reshape(rows, *shape))
    return np.concatenate(found)


def interval(values_R: Floats) -> tuple[float, float]:
    """Return the 95 % percentile interval of resampled values; NaN twice where there are none."""
    values_R = values_R[~np.isnan(values_R)]
    if not len(values_R):
        return np.nan, np.nan
    low, high = np.percentile(values_R, INTERVAL_PERCENT).tolist()
    return low, high


def randomization_p(
    one_N2M: Floats, other_N2M: Floats, samples: int, seed: int
) -> npt.NDArray[np.float64]:
    """[M] two-sided p-values that two systems differ, by approximate randomization (Noreen 1989).

    Each argument holds numerators and denominators. Under the null hypothesis the two systems'
    results for an example may be swapped: p = (1 + swaps with as large a difference) / (1 + R).
    Examples that only one of the two has a figure for are left out; NaN if none is left.
    """
    both_NM = (one_N2M[:, 1] > 0) & (other_N2M[:, 1] > 0)
    one_N2M, other_N2M = (np.where(both_NM[:, None], s, 0.0) for s in (one_N2M, other_N2M))
    size, _, metrics = one_N2M.shape
    middle_2M = (one_N2M + other_N2M).sum(axis=0) / 2
    half_N2M = (one_N2M - other_N2M) / 2

    def differences(shift: Floats) -> Floats:
        first, second = middle_2M + shift, middle_2M - shift
        gap = ratios(first[..., 0, :], first[..., 1, :])
        return np.abs(gap - ratios(second[..., 0, :], second[..., 1, :]))

    observed_M = differences(half_N2M.sum(axis=0))
    source = np.random.default_rng(seed)
    as_large_M = np.zeros(metrics)
    for rows in _chunks(samples, size):
        signs = source.integers(0, 2, (rows, size), dtype=np.int8).astype(np.float64) * 2 - 1
        shift = (signs @ half_N2M.reshape(size, -1)).reshape(rows, 2, metrics)
        as_large_M += (differences(shift) >= observed_M - _EQUAL).sum(axis=0)
    return np.where(np.isnan(observed_M), np.nan, (1 + as_large_M) / (1 + samples))
