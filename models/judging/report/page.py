"""One HTML file with the plots and tables of a study. It asks for nothing from anywhere."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from wikisum.models.judging.report.judgments import Measure
from wikisum.models.judging.report.published import PUBLISHED
from wikisum.models.judging.report.results import Results
from wikisum.models.judging.report.tables import notes, progress_line, sections, shown
from wikisum.models.judging.text import clean
from wikisum.ranker.runs.html import render_page

TEMPLATE = Path(__file__).with_name("report.html")
_WIDTH = 100.0  # of a plot, in its own units


class Bar(NamedTuple):
    """One part of a stacked bar: its name, count and place, and which color it has."""

    name: str
    times: int
    x: float
    width: float
    shade: float


class Row(NamedTuple):
    """A line of a plot: a name, and a mean with its interval or the parts of a bar."""

    name: str
    label: str
    x: float = 0.0
    low: float = 0.0
    high: float = 0.0
    bars: tuple[Bar, ...] = ()


class Plot(NamedTuple):
    """A plot: a line per system, the ticks of its axis as (place, label), the names of shades."""

    title: str
    rows: list[Row]
    ticks: tuple[tuple[float, str], ...] = ()
    legend: tuple[tuple[str, float], ...] = ()


def html_page(results: Results) -> str:
    """Return the page of a study's results."""
    kind = results.study.protocol.kind
    return render_page(
        TEMPLATE,
        _without_control_characters,
        protocol=results.study.protocol,
        systems=results.study.systems,
        progress=progress_line(results),
        intervals=interval_plots(results),
        distributions=preference_plots(results)
        if kind == "preference"
        else distribution_plots(results),
        tables=sections(results),
        notes=notes(results)[1:],
        published=PUBLISHED.get(results.study.protocol.name),
    )


def _without_control_characters(value: Any) -> Any:
    """Return a value without control characters, if it is plain text."""
    return clean(value) if type(value) is str else value


def interval_plots(results: Results) -> list[Plot]:
    """Return a plot for each measure: the mean of each system with its interval."""
    plots = []
    for measure in results.measures:
        rows = [
            Row(
                results.study.systems[mean.system],
                shown(measure, mean.value),
                _place(measure, mean.value),
                _place(measure, mean.low),
                _place(measure, mean.high),
            )
            for mean in results.means
            if mean.measure == measure.key and mean.judgments
        ]
        if rows:
            plots.append(Plot(measure.label, rows, _ticks(measure)))
    return plots


def _place(measure: Measure, value: float) -> float:
    return round(_WIDTH * (value - measure.low) / (measure.high - measure.low), 3)


def _ticks(measure: Measure) -> tuple[tuple[float, str], ...]:
    span = measure.high - measure.low
    steps = int(span) if measure.factor == 1 and span > 2 else 4
    values = [measure.low + span * n / steps for n in range(steps + 1)]
    return tuple((_place(measure, v), f"{v * measure.factor:g}") for v in values)


def distribution_plots(results: Results) -> list[Plot]:
    """Return a plot for each measure: how often each system got each value, as stacked bars."""
    plots = []
    for measure in results.measures:
        chosen = [v for v in results.judgments.values if v.measure == measure.key]
        values = sorted({v.value for v in chosen})
        if len(values) > 10:  # means of several marks
            continue
        rows = []
        for system, name in enumerate(results.study.systems):
            counts = Counter(v.value for v in chosen if v.system == system)
            if counts:
                parts = [(f"{v:g}", counts[v], _shade(measure, v)) for v in values]
                rows.append(Row(name, str(counts.total()), bars=_stacked(parts)))
        if rows:
            legend = tuple((f"{v:g}", _shade(measure, v)) for v in values)
            plots.append(Plot(measure.label, rows, legend=legend))
    return plots


def _shade(measure: Measure, value: float) -> float:
    """From 0.15 for the lowest value to 1 for the highest."""
    return round(0.15 + 0.85 * (value - measure.low) / (measure.high - measure.low), 3)


def preference_plots(results: Results) -> list[Plot]:
    """Return one plot: for each two systems, how often either was preferred."""
    names = results.study.systems
    rows = []
    for c in results.comparisons:
        total = c.wins + c.ties + c.losses
        if total:
            parts = [(names[c.one], c.wins, 1.0), ("no preference", c.ties, 0.15),
                     (names[c.other], c.losses, 0.5)]  # fmt: skip
            rows.append(Row(f"{names[c.one]} : {names[c.other]}", str(total), bars=_stacked(parts)))
    legend = (("the first", 1.0), ("no preference", 0.15), ("the second", 0.5))
    return [Plot("Preferred summaries", rows, legend=legend)] if rows else []


def _stacked(parts: list[tuple[str, int, float]]) -> tuple[Bar, ...]:
    total = sum(count for _, count, _ in parts)
    bars, x = [], 0.0
    for name, count, shade in parts:
        width = _WIDTH * count / total
        if count:
            bars.append(Bar(name, count, round(x, 3), round(width, 3), shade))
        x += width
    return tuple(bars)
