"""How large the inputs and leads of the examples are: percentiles, means and histograms."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from wikisum.pipeline.engine.shards import read_each, read_tables
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import SOURCES, Sizes

Values = npt.NDArray[np.number[Any]]
PERCENTILES = (20, 40, 50, 60, 80, 100)
_MOST_BINS = 30
_SHOWN_PERCENT = 98
_DIGITS = 4
_ROUNDING = 1e-9


def read_sizes(workspace: Workspace, paths: list[str]) -> dict[str, Values]:
    """Each column of the sizes (`records.Sizes`) over all examples, and the sum of documents."""
    columns: dict[str, list[Values]] = {name: [] for name in Sizes._fields[1:]}
    read = read_each(
        lambda path: list(read_tables(path, list(columns))), map(workspace.path, paths)
    )
    for tables in read:
        for table in tables:
            for name, arrays in columns.items():
                arrays.append(table.column(name).to_numpy())
    # a column at a time, so that no more than one is in memory twice
    values = {name: np.concatenate(columns.pop(name) or [np.empty(0)]) for name in list(columns)}
    return {**values, "documents": _sum_over_sources(values, "documents")}


def _sum_over_sources(values: dict[str, Values], unit: str) -> Values:
    total: Values = np.sum([values[f"{source}_{unit}"] for source in SOURCES], axis=0)
    return total


def size_percentiles(values: dict[str, Values]) -> dict[str, Any]:
    """Percentiles (Liu et al. 2018, table 2) and mean of each size; empty without examples."""
    described: dict[str, Any] = {}
    for name, sizes in values.items():
        if len(sizes):
            column = sizes.astype(np.float64)
            points = np.percentile(column, PERCENTILES).round(_DIGITS).tolist()
            described[name] = {
                "mean": round(float(column.mean()), _DIGITS),
                **{str(p): v for p, v in zip(PERCENTILES, points, strict=True)},
            }
    words = float(_sum_over_sources(values, "words").sum())
    paragraphs = float(values["paragraphs"].sum())
    described["words_per_paragraph"] = round(words / paragraphs, 2) if paragraphs else None
    return described


def histogram(values: Values) -> dict[str, Any]:
    """`counts` of bins `step` wide from 0 on; the last counts all that is larger too.

    The step is 1, 2 or 5 times a power of ten, the least for which at most 30 bins hold 98 % of
    the values; of whole numbers, 1 at least.
    """
    if not len(values):
        return {"step": 1.0, "counts": []}
    values = values.astype(np.float64)
    is_whole = bool((values == np.floor(values)).all())
    end = float(np.percentile(values, _SHOWN_PERCENT))
    step = _nice_step(max(end / _MOST_BINS, 1.0 if is_whole else 1e-3))
    last = int(end / step)
    bins = np.minimum((values / step + _ROUNDING).astype(np.int64), last)
    return {"step": step, "counts": np.bincount(bins, minlength=last + 1).tolist()}


def _nice_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    factor = next(f for f in (1, 2, 5, 10) if f * power >= least * (1 - _ROUNDING))
    return round(factor * power, 9)
