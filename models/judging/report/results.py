"""The results of a study: means with intervals, tests of each two systems, agreement.

Legend: N examples, K systems, M measures, R resamples.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from wikisum.models.evaluation.significance import Floats, bootstrap, interval
from wikisum.models.judging.report import significance
from wikisum.models.judging.report.agreement import krippendorff_alpha
from wikisum.models.judging.report.judgments import (
    Judgment,
    Judgments,
    Measure,
    measures_of,
    read_judgments,
)
from wikisum.models.judging.study import Study

_LEVELS = {
    "rating": ("ordinal", "interval"),
    "preference": ("nominal",),
    "best-worst": ("ordinal",),
    "questions": ("ordinal", "interval"),
}
_CORRECT = 0.5  # an answer counts as right for McNemar's test if its mean mark is above


class Mean(NamedTuple):
    """The mean of a system, with its 95 % interval, over that many judgments."""

    measure: str
    system: int
    value: float
    low: float
    high: float
    judgments: int


class Comparison(NamedTuple):
    """Two systems by one measure: the difference of their means, and p-values by test.

    `wins`, `ties` and `losses` count judgments in a preference, else examples.
    """

    measure: str
    one: int
    other: int
    difference: float
    low: float
    high: float
    wins: int
    ties: int
    losses: int
    p: dict[str, float]


class Variance(NamedTuple):
    """One-way analysis of variance over all systems."""

    measure: str
    f: float
    p: float


class Agreement(NamedTuple):
    """Krippendorff's alpha over units that at least two judges have judged."""

    measure: str
    level: str
    alpha: float
    units: int


class Results(NamedTuple):
    """All results of a study."""

    study: Study
    judgments: Judgments
    measures: list[Measure]
    means: list[Mean]
    comparisons: list[Comparison]
    variances: list[Variance]
    agreements: list[Agreement]
    samples: int
    seed: int


def results_of(study: Study, samples: int, seed: int) -> Results:
    """Return the results of the answers given by now; resampling is seeded."""
    judgments = read_judgments(study)
    measures = measures_of(study)
    return Results(
        study,
        judgments,
        measures,
        _all_means(study, judgments.values, measures, samples, seed),
        [
            _comparison(study, judgments.values, measure.key, one, other, samples, seed)
            for measure in measures
            for one, other in itertools.combinations(range(len(study.systems)), 2)
        ],
        [
            Variance(m.key, *significance.anova(_groups(study, judgments.values, m.key)))
            for m in measures
            if study.protocol.kind != "preference"
        ],
        _agreements(study, judgments, measures),
        samples,
        seed,
    )


def _all_means(
    study: Study, values: Sequence[Judgment], measures: Sequence[Measure], samples: int, seed: int
) -> list[Mean]:
    keys = [measure.key for measure in measures]
    sums_NKM, counts_NKM = _sums(study, values, keys)
    if not len(sums_NKM):
        return []
    drawn_RKM = bootstrap(sums_NKM, counts_NKM, samples, seed)
    found = []
    for m, key in enumerate(keys):
        for k in range(len(study.systems)):
            count = int(counts_NKM[:, k, m].sum())
            mean = float(sums_NKM[:, k, m].sum() / count) if count else np.nan
            found.append(Mean(key, k, mean, *interval(drawn_RKM[:, k, m]), count))
    return found


def _sums(study: Study, values: Sequence[Judgment], keys: Sequence[str]) -> tuple[Floats, Floats]:
    """[N, K, M] sums and numbers of values, of the examples that have any."""
    examples = sorted({value.example for value in values})
    row_of = {example: row for row, example in enumerate(examples)}
    sums_NKM = np.zeros((len(examples), len(study.systems), len(keys)))
    counts_NKM = np.zeros_like(sums_NKM)
    for value in values:
        where = (row_of[value.example], value.system, keys.index(value.measure))
        sums_NKM[where] += value.value
        counts_NKM[where] += 1
    return sums_NKM, counts_NKM


def _groups(study: Study, values: Iterable[Judgment], measure: str) -> list[list[float]]:
    """The values of each system by a measure."""
    groups: list[list[float]] = [[] for _ in study.systems]
    for value in values:
        if value.measure == measure:
            groups[value.system].append(value.value)
    return groups


def _comparison(
    study: Study,
    values: Sequence[Judgment],
    measure: str,
    one: int,
    other: int,
    samples: int,
    seed: int,
) -> Comparison:
    """Compare two systems; in a preference only by the screens that showed these two."""
    is_preference = study.protocol.kind == "preference"
    chosen = [
        v
        for v in values
        if v.measure == measure
        and v.system in (one, other)
        and (not is_preference or v.item == f"{one}-{other}")
    ]
    by_example = [a - b for a, b in _paired(chosen, one, other, lambda v: v.example)]
    by_judgment = _paired(chosen, one, other, lambda v: (v.judge, v.example))
    outcomes = [a - b for a, b in by_judgment] if is_preference else by_example
    wins, losses = sum(d > 0 for d in outcomes), sum(d < 0 for d in outcomes)
    p = {
        "sign": significance.sign_p(wins, losses),
        "permutation": significance.permutation_p(by_example, samples, seed),
    }
    if not is_preference:
        groups = _groups(study, values, measure)
        p["welch"] = significance.welch_p(groups[one], groups[other])
        p["tukey"] = significance.tukey_p(groups)[one, other]
    if study.protocol.kind == "questions":
        p["mcnemar"] = _mcnemar(chosen, one, other)
    difference = _difference(*_sums(study, chosen, [measure]), one, other, samples, seed)
    ties = len(outcomes) - wins - losses
    return Comparison(measure, one, other, *difference, wins, ties, losses, p)


def _difference(
    sums_NKM: Floats, counts_NKM: Floats, one: int, other: int, samples: int, seed: int
) -> tuple[float, float, float]:
    """The difference of two systems' means by one measure, with its interval."""
    counts_K = counts_NKM.sum(axis=(0, 2))
    if not counts_K[one] or not counts_K[other]:
        return np.nan, np.nan, np.nan
    sums_K = sums_NKM.sum(axis=(0, 2))
    drawn_RK = bootstrap(sums_NKM, counts_NKM, samples, seed)[:, :, 0]
    value = float(sums_K[one] / counts_K[one] - sums_K[other] / counts_K[other])
    return value, *interval(drawn_RK[:, one] - drawn_RK[:, other])


def _paired(
    values: Iterable[Judgment], one: int, other: int, key: Callable[[Judgment], object]
) -> list[tuple[float, float]]:
    """The two systems' means for each key that both have values for."""
    found: defaultdict[object, dict[int, list[float]]] = defaultdict(lambda: {one: [], other: []})
    for value in values:
        found[key(value)][value.system].append(value.value)
    return [
        (float(np.mean(both[one])), float(np.mean(both[other])))
        for both in found.values()
        if both[one] and both[other]
    ]


def _mcnemar(values: Iterable[Judgment], one: int, other: int) -> float:
    pairs = _paired(values, one, other, lambda v: (v.example, v.item))
    right = [[mean > _CORRECT for mean in means] for means in zip(*pairs, strict=True)]
    return significance.mcnemar_p(*right or ([], []))


def _agreements(study: Study, judgments: Judgments, measures: Sequence[Measure]) -> list[Agreement]:
    kind = study.protocol.kind
    found = []
    for measure in measures:
        units: defaultdict[object, list[float]] = defaultdict(list)
        for value in judgments.values:
            # the two values of a preference mirror each other: the first system's is enough
            is_first = value.item.partition("-")[0] == str(value.system)
            if value.measure == measure.key and (kind != "preference" or is_first):
                units[value.example, value.item, value.system].append(value.value)
        found += [_agreement(measure.key, level, units.values()) for level in _LEVELS[kind]]
    if kind == "questions" and study.settings.markers > 1:
        marks: defaultdict[object, list[float]] = defaultdict(list)
        for mark in judgments.marks:
            marks[mark.answer].append(mark.value)
        found.append(_agreement("marks", "ordinal", marks.values()))
    return found


def _agreement(measure: str, level: str, units: Iterable[list[float]]) -> Agreement:
    paired = [unit for unit in units if len(unit) > 1]
    return Agreement(measure, level, krippendorff_alpha(paired, level), len(paired))
