"""Comparison of systems, with confidence intervals and paired tests."""

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from wikisum.models.decoding.summary_files import BadSummaries
from wikisum.models.evaluation.baselines import BASELINES, FIRST_WORDS
from wikisum.models.evaluation.metrics import METRICS, PERPLEXITY, summary_parts
from wikisum.models.evaluation.significance import (
    Floats,
    bootstrap,
    interval,
    randomization_p,
    ratios,
)
from wikisum.models.evaluation.systems import (
    System,
    baseline_systems,
    file_systems,
    ids_in_category,
)
from wikisum.models.evaluation.titles import row_without_title
from wikisum.pipeline.records import SPLITS
from wikisum.ranker.categories import category_pattern
from wikisum.ranker.runs.progress import ProgressLine
from wikisum.ranker.setting import Checked, setting

KEYS = tuple(metric.key for metric in METRICS)
_NONE: dict[str, Any] = {"model": None, "run": None, "settings": None}
_MOST_LOG = 700.0  # exp of more is no float


@dataclass(frozen=True)
class EvaluationSettings(Checked):
    """Settings of an evaluation."""

    stem: bool = setting(True, "compute ROUGE with Porter stemming", default_text="yes")
    samples: int = setting(10_000, "resamples of intervals and tests", at_least=1)
    seed: int = setting(0, "seed of the resampling")
    split: str = setting("test", "split of the dataset", SPLITS)
    baselines: tuple[str, ...] = setting(
        (FIRST_WORDS, "lexrank"), "first-words, lead3, oracle or ranking methods", BASELINES,
        commas=True,
    )  # fmt: skip
    max_paragraphs: int | None = setting(
        None, "ranked paragraphs that baselines read", at_least=1, default_text="all"
    )
    page_examples: int = setting(2_000, "examples on the page, the first ones", at_least=0)
    mean: bool = setting(
        False, "add the mean of the files, for example of a run's best checkpoints"
    )
    skip_title: bool = setting(
        False, "score summaries and leads without the title that they begin with"
    )
    category: str | None = setting(
        None,
        "score only examples with a category that this regular expression finds",
        metavar="REGEX",
        parse=category_pattern,
    )


class Scores(NamedTuple):
    """Metrics of a system's summaries: ids [N], numerators and denominators [N, 2, M]."""

    ids: list[str]
    parts_N2M: Floats
    leads: list[bytes]
    settings: dict[str, Any]


class Figure(NamedTuple):
    """A metric of a system with its 95 % interval, over so many examples; None where unknown."""

    value: float | None
    low: float | None
    high: float | None
    examples: int


class Difference(NamedTuple):
    """One metric of two systems: the first's less the other's, its interval, the p-value."""

    one: str
    other: str
    metric: str
    value: float
    low: float
    high: float
    p: float


class Evaluation(NamedTuple):
    """All figures; `figures` is by system and metric, `parts_NK2M` are those of each example."""

    settings: dict[str, Any]
    systems: list[dict[str, Any]]
    ids: list[str]
    figures: dict[str, dict[str, Figure]]
    differences: list[Difference]
    parts_NK2M: Floats


def score(
    system: System, settings: EvaluationSettings, to: TextIO, only: Collection[str] | None = None
) -> Scores:
    """What the summaries of a system measure, or those of them with an id in `only`.

    Raises BadSummaries for an id that stands twice.
    """
    ids: list[str] = []
    leads: list[bytes] = []
    parts: list[list[tuple[float, float]]] = []
    origin: dict[str, Any] = {}
    seen: set[str] = set()
    line = ProgressLine(system.name, "summaries", system.row_count, to)
    for row in system.read():
        if row.id in seen:
            raise BadSummaries(f"{system.source}: {row.id} ({row.title}) occurs twice")
        if not seen:
            origin = {"model": row.model, "run": row.run, "settings": row.settings}
        elif row.model != origin["model"] or row.run != origin["run"]:
            raise BadSummaries(
                f"{system.source}: {row.id} comes from another model or run than the rows before it"
            )
        seen.add(row.id)
        if only is not None and row.id not in only:
            continue
        row = row_without_title(row) if settings.skip_title else row
        ids.append(row.id)
        leads.append(hashlib.blake2b(row.lead.encode(), digest_size=16).digest())
        measured = summary_parts(row, settings.stem)
        parts.append([measured[key] for key in KEYS])
        line.draw(len(ids))
    line.say(f"{system.name:<9} {len(ids):,} summaries scored")
    array = np.array(parts, dtype=np.float64).reshape(len(ids), len(KEYS), 2)
    return Scores(ids, array.transpose(0, 2, 1), leads, origin)


def shared_ids(systems: Sequence[System], scores: Sequence[Scores]) -> list[str]:
    """Return the examples that all systems have, in the order of the first.

    Raises BadSummaries if there is none, or if two systems do not have the same lead for one.
    """
    shared = set(scores[0].ids).intersection(*(s.ids for s in scores[1:]))
    if not shared:
        raise BadSummaries(f"no example is in all of {', '.join(s.source for s in systems)}")
    leads = dict(zip(scores[0].ids, scores[0].leads, strict=True))
    for system, measured in zip(systems[1:], scores[1:], strict=True):
        for id_, lead in zip(measured.ids, measured.leads, strict=True):
            if id_ in shared and lead != leads[id_]:
                raise BadSummaries(
                    f"{system.source}: the lead of {id_} is not that of {systems[0].source}: "
                    "the files come from different datasets"
                )
    return [id_ for id_ in scores[0].ids if id_ in shared]


def evaluate(
    paths: Sequence[Path], data: str | None, settings: EvaluationSettings, to: TextIO
) -> tuple[Evaluation, list[System]]:
    """Every figure of the files' systems, and of the baselines where there is `data`.

    All is counted over the examples that every system has; a system's `left_out` is the number of
    its other examples. Progress is written to `to`.
    Raises BadSummaries for wrong data, ValueError and FileNotFoundError for a wrong call.
    """
    if not paths and data is None:
        raise ValueError("name a file of summaries, or --data to score baselines alone")
    if settings.category is not None and data is None:
        raise ValueError("--category needs --data, which knows the categories")
    systems = file_systems(paths)
    only = settings.category and ids_in_category(str(data), settings.split, settings.category)
    scores = [score(system, settings, to, only or None) for system in systems]
    if data is not None:
        ids = set(shared_ids(systems, scores)) if systems else only or None
        baselines = _baselines(data, settings, ids, to)
        systems += [system for system, _ in baselines]
        scores += [measured for _, measured in baselines]
    ids_N = shared_ids(systems, scores)
    parts_NK2M = np.stack([_rows_of(measured, ids_N) for measured in scores], axis=1)
    pairs = list(combinations(range(len(systems)), 2))
    described = [
        _described(s.name, s.source, s.is_baseline, len(ids_N), len(m.ids) - len(ids_N), m.settings)
        for s, m in zip(systems, scores, strict=True)
    ]
    if settings.mean:
        name, parts_N12M = _mean(parts_NK2M[:, : len(paths)])
        parts_NK2M = np.concatenate([parts_NK2M, parts_N12M], axis=1)
        # not with its own parts
        pairs += [(i, len(systems)) for i in range(len(paths), len(systems))]
        described.append(_described(name, ", ".join(map(str, paths)), False, len(ids_N), 0, _NONE))
    names = [system["name"] for system in described]
    figures, differences = _compared(names, parts_NK2M, pairs, settings)
    all_settings = {**asdict(settings), "data": data}
    found = Evaluation(all_settings, described, ids_N, figures, differences, parts_NK2M)
    return found, systems


def _baselines(
    data: str, settings: EvaluationSettings, ids: set[str] | None, to: TextIO
) -> list[tuple[System, Scores]]:
    """The baselines of a dataset, scored on these examples or on all."""
    found = []
    for baseline in baseline_systems(
        settings.baselines, data, settings.split, ids, settings.max_paragraphs
    ):
        measured = score(baseline, settings, to)
        if ids is not None and (missing := ids.difference(measured.ids)):
            raise BadSummaries(
                f"{len(missing)} of {len(ids)} examples to score are not in "
                f"split {settings.split} of {data}, for example {min(missing)}"
            )
        found.append((baseline, measured))
    return found


def _mean(parts_NF2M: Floats) -> tuple[str, Floats]:
    """(name, [N, 1, 2, M] parts) of the mean over files, as of the best checkpoints of a run."""
    count = parts_NF2M.shape[1]
    if count < 2:
        raise ValueError(f"--mean needs at least two files, not {count}")
    return f"mean of {count}", parts_NF2M.mean(axis=1, keepdims=True)


def _described(
    name: str, source: str, is_baseline: bool, examples: int, left_out: int, origin: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "source": source,
        "is_baseline": is_baseline,
        "examples": examples,
        "left_out": left_out,
        **origin,
    }


def _rows_of(scores: Scores, ids: Sequence[str]) -> Floats:
    row_by_id = {id_: row for row, id_ in enumerate(scores.ids)}
    return scores.parts_N2M[[row_by_id[id_] for id_ in ids]]


def _compared(
    names: Sequence[str],
    parts_NK2M: Floats,
    pairs: Sequence[tuple[int, int]],
    settings: EvaluationSettings,
) -> tuple[dict[str, dict[str, Figure]], list[Difference]]:
    """Return the figures of each system, and the differences of those systems that are paired."""
    over_NKM, under_NKM = parts_NK2M[:, :, 0], parts_NK2M[:, :, 1]
    values_KM = ratios(over_NKM.sum(axis=0), under_NKM.sum(axis=0))
    counts_KM = (under_NKM > 0).sum(axis=0)
    drawn_RKM = bootstrap(over_NKM, under_NKM, settings.samples, settings.seed)
    figures = {
        name: {
            key: _figure(values_KM[k, m], drawn_RKM[:, k, m], int(counts_KM[k, m]))
            for m, key in enumerate(KEYS)
        }
        for k, name in enumerate(names)
    }
    for figure_by_metric in figures.values():
        figure_by_metric[PERPLEXITY.key] = _exp(figure_by_metric["log_perplexity"])
    differences = []
    for i, j in pairs:
        p_M = randomization_p(parts_NK2M[:, i], parts_NK2M[:, j], settings.samples, settings.seed)
        gap_RM = drawn_RKM[:, i] - drawn_RKM[:, j]
        for m, key in enumerate(KEYS):
            if not np.isnan(p_M[m]):
                gap = float(values_KM[i, m] - values_KM[j, m])
                low, high = interval(gap_RM[:, m])
                difference = Difference(names[i], names[j], key, gap, low, high, float(p_M[m]))
                differences.append(difference)
    return figures, differences


def _figure(value: float, drawn_R: Floats, examples: int) -> Figure:
    if not examples:
        return Figure(None, None, None, 0)
    return Figure(float(value), *interval(drawn_R), examples)


def _exp(figure: Figure) -> Figure:
    value, low, high = (None if v is None else math.exp(min(v, _MOST_LOG)) for v in figure[:3])
    return Figure(value, low, high, figure.examples)
