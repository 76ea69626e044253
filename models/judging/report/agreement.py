"""Agreement of judges: Krippendorff's alpha with missing values.

Krippendorff, *Computing Krippendorff's Alpha-Reliability* (2011), section D.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

LEVELS = ("nominal", "ordinal", "interval")
Floats = npt.NDArray[np.float64]


def krippendorff_alpha(units: Iterable[Sequence[float]], level: str) -> float:
    """Return alpha = 1 - observed / expected disagreement; NaN where it is not defined.

    Each unit holds the values that judges gave to it, in any order and number; units with fewer
    than two values do not count. `level` is "nominal", "ordinal" or "interval". Alpha is 1 for
    perfect agreement and about 0 for agreement by chance. It is not defined if no unit has two
    values, or if all values are equal.
    """
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, not one of {', '.join(LEVELS)}")
    paired = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in paired for value in unit})
    if len(values) < 2:
        return float("nan")
    coincidences_VV = _coincidences(paired, values)
    totals_V = coincidences_VV.sum(axis=1)
    distances_VV = _distances(np.array(values), totals_V, level)
    observed = (coincidences_VV * distances_VV).sum()
    expected = (np.outer(totals_V, totals_V) * distances_VV).sum() / (totals_V.sum() - 1)
    return float(1 - observed / expected)


def _coincidences(units: Sequence[Sequence[float]], values: Sequence[float]) -> Floats:
    """How often two values were given to one unit; a unit of m values counts m in total."""
    index_by_value = {value: index for index, value in enumerate(values)}
    found_VV = np.zeros((len(values), len(values)))
    for unit in units:
        counts_V = np.zeros(len(values))
        for value in unit:
            counts_V[index_by_value[value]] += 1
        pairs_VV = np.outer(counts_V, counts_V) - np.diag(counts_V)
        found_VV += pairs_VV / (len(unit) - 1)
    return found_VV


def _distances(values_V: Floats, totals_V: Floats, level: str) -> Floats:
    """Squared distance of two values at a level of measurement."""
    if level == "nominal":
        return 1.0 - np.eye(len(values_V))
    # ordinal: how many values lie between two, with half of those equal to either
    places_V = values_V if level == "interval" else np.cumsum(totals_V) - totals_V / 2
    return (places_V[:, None] - places_V[None, :]) ** 2
