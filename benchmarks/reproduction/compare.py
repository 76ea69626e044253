"""Figures of systems with intervals and paired tests, and their Markdown.

Legend: S seeds, N examples, K systems, M metrics; each figure is a ratio of two sums (axis 2).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wikisum.models.evaluation.significance import bootstrap, interval, randomization_p, ratios

Row = dict[str, Any]
RESAMPLES = 2_000
TEXT_METRICS = ("rouge1", "rouge2", "rougeL")


def parts_of(values_NM: np.ndarray) -> np.ndarray:
    """Return values that are averaged over examples as numerators and denominators, [N, 2, M]."""
    return np.stack([values_NM, np.ones_like(values_NM)], 1)


def compared(
    parts: Mapping[str, Sequence[np.ndarray]], metrics: Sequence[str], reference: str
) -> Iterator[Row]:
    """Yield a row per system: value, interval, values by seed, p of the difference from another.

    `parts` holds [N, 2, M] per system and seed. Intervals (bootstrap) and tests (paired
    randomization) are over examples: an example's figure is its mean over the seeds, so that they
    do not hold the chance of training, which the values by seed show. Metrics without any figure
    are left out.
    """
    systems = list(parts)
    mean_NK2M = np.stack([np.mean(list(runs), axis=0) for runs in parts.values()], 1)
    over_NKM, under_NKM = mean_NK2M[:, :, 0], mean_NK2M[:, :, 1]
    drawn_RKM = bootstrap(over_NKM, under_NKM, RESAMPLES, 0)
    value_KM = ratios(over_NKM.sum(0), under_NKM.sum(0))
    other = systems.index(reference)
    for k, system in enumerate(systems):
        of_seed_SM = [ratios(run[:, 0].sum(0), run[:, 1].sum(0)) for run in parts[system]]
        p_M = randomization_p(mean_NK2M[:, k], mean_NK2M[:, other], RESAMPLES, 0)
        yield {
            "system": system,
            "examples": len(mean_NK2M),
            "reference": reference,
            "figures": {
                metric: {
                    "value": float(value_KM[k, m]),
                    "interval": interval(drawn_RKM[:, k, m]),
                    "by_seed": [float(value_M[m]) for value_M in of_seed_SM],
                    "p": None if k == other else float(p_M[m]),
                }
                for m, metric in enumerate(metrics)
                if under_NKM[:, k, m].any()
            },
        }


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table: figures as `value [interval] (by seed), p`, all else as it is."""
    cells = [dict(_cells(row)) for row in rows]
    names = list(dict.fromkeys(name for row in cells for name in row))
    body = [[row.get(name, "-") for name in names] for row in cells]
    return pipes([names, *body])


def pipes(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is its head."""
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + " --- |" * (head.count("|") - 1), *body])


def _cells(row: Row) -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if name == "figures":
            yield from ((metric, _figure(metric, figure)) for metric, figure in value.items())
        elif name == "curve":
            yield name, ", ".join(f"{step}: {loss:.2f}" for step, loss in value)
        elif isinstance(value, float):
            yield name, f"{value:.2f}"
        elif name not in ("samples", "reference", "examples"):
            yield name, f"{value:,}" if isinstance(value, int) else str(value)


def _figure(metric: str, figure: dict[str, Any]) -> str:
    scale, digits = (1, 3) if metric in ("log_perplexity", "loss") else (100, 1)
    value, low, high, *by_seed = (
        f"{v * scale:.{digits}f}"
        for v in (figure["value"], *figure["interval"], *figure["by_seed"])
    )
    seeds = f" ({', '.join(by_seed)})" if len(by_seed) > 1 else ""
    p = "" if figure["p"] is None else f", p {figure['p']:.4f}"
    return f"{value} [{low}, {high}]{seeds}{p}"
