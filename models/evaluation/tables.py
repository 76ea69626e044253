"""An evaluation as text for a terminal, as Markdown, as CSV and as plain values for JSON."""

import json
from itertools import chain
from typing import Any

from wikisum.models.evaluation.evaluate import Difference, Evaluation, Figure
from wikisum.models.evaluation.metrics import COLUMNS, METRICS, Metric
from wikisum.models.evaluation.significance import ratios
from wikisum.ranker.runs.tables import csv_of, markdown_table, shown_p, text_columns

_BY_KEY = {metric.key: metric for metric in COLUMNS}
_INTERVALS_FOR = tuple(metric.key for metric in METRICS if metric.is_compared)


def shown(metric: Metric, value: float | None) -> str:
    """Return a value as it stands in a table; a dash for none."""
    return "-" if value is None else f"{value * metric.scale:.{metric.digits}f}"


def text_table(evaluation: Evaluation) -> str:
    """Return the main figures in columns for a terminal, and the paired tests under them."""
    keys = [key for key in _present(evaluation) if key not in ("coverage", "density")]
    head = ["system", *(_BY_KEY[key].label for key in keys)]
    rows = [
        [name, *(shown(_BY_KEY[key], figures[key].value) for key in keys)]
        for name, figures in evaluation.figures.items()
    ]
    lines = text_columns([head, *rows])
    if evaluation.differences:
        lines += ["", *text_columns(difference_rows(evaluation, with_intervals=False))]
    return "\n".join([*lines, "", *notes(evaluation)]) + "\n"


def markdown(evaluation: Evaluation) -> str:
    """Return the figures with their intervals, the paired tests, and what each column means."""
    keys = _present(evaluation)
    parts = ["# Summaries\n", markdown_table(figure_rows(evaluation))]
    if evaluation.differences:
        parts += ["## Paired tests\n", markdown_table(difference_rows(evaluation))]
    parts.append("## What stands here\n")
    parts.append("\n".join(f"- {note}" for note in notes(evaluation)) + "\n")
    parts.append("\n".join(f"- {_BY_KEY[k].label}: {_BY_KEY[k].meaning}" for k in keys) + "\n")
    parts.append("\n".join(f"- {line}" for line in sources(evaluation)) + "\n")
    return "\n".join(parts)


def csv_text(evaluation: Evaluation) -> str:
    """A row a system: each figure and the ends of its interval, as they are, not as shown."""
    keys = [metric.key for metric in COLUMNS]
    head = ["system", "examples"]
    for key in keys:
        head += [key, f"{key}_low", f"{key}_high"]
    rows: list[list[Any]] = []
    for name, figures in evaluation.figures.items():
        rows.append([name, len(evaluation.ids), *(v for key in keys for v in figures[key][:3])])
    return csv_of([head, *rows])


def examples_csv(evaluation: Evaluation) -> str:
    """Return a row for each system and example, with each metric of that example alone."""
    values = ratios(evaluation.parts_NK2M[:, :, 0], evaluation.parts_NK2M[:, :, 1]).tolist()
    rows = (
        [name, id_, *values[n][k]]
        for k, name in enumerate(evaluation.figures)
        for n, id_ in enumerate(evaluation.ids)
    )
    return csv_of([["system", "id", *(metric.key for metric in METRICS)], *rows])


def plain_values(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything but the single examples as plain values for JSON."""
    figures = {
        name: {key: figure._asdict() for key, figure in figures.items()}
        for name, figures in evaluation.figures.items()
    }
    return {
        "settings": evaluation.settings,
        "meaning": {metric.key: metric.meaning for metric in COLUMNS},
        "examples": len(evaluation.ids),
        "systems": [{**s, "figures": figures[s["name"]]} for s in evaluation.systems],
        "differences": [difference._asdict() for difference in evaluation.differences],
    }


def _present(evaluation: Evaluation) -> list[str]:
    """Return the metrics that at least one system has."""
    every = evaluation.figures.values()
    return [m.key for m in COLUMNS if any(figures[m.key].value is not None for figures in every)]


def _with_interval(metric: Metric, figure: Figure) -> str:
    value = shown(metric, figure.value)
    if metric.key not in _INTERVALS_FOR or figure.value is None:
        return value
    return f"{value} [{shown(metric, figure.low)}, {shown(metric, figure.high)}]"


def figure_rows(evaluation: Evaluation) -> list[list[str]]:
    """A head and a row for each system: its figures, with intervals where systems are compared."""
    keys = _present(evaluation)
    rows = [["system", *(_BY_KEY[key].label for key in keys)]]
    for name, figures in evaluation.figures.items():
        rows.append([name, *(_with_interval(_BY_KEY[key], figures[key]) for key in keys)])
    return rows


def difference_rows(evaluation: Evaluation, with_intervals: bool = True) -> list[list[str]]:
    """A head and a row for each two systems: difference and p of each metric they are compared by.

    The head alone if there is but one system.
    """
    keys = [key for key in _present(evaluation) if _BY_KEY[key].is_compared]
    by_pair = {(d.one, d.other, d.metric): d for d in evaluation.differences}
    rows = [["systems", *chain.from_iterable((_BY_KEY[key].label, "p") for key in keys)]]
    for one, other in dict.fromkeys((d.one, d.other) for d in evaluation.differences):
        cells = (_difference_cells(by_pair.get((one, other, key)), with_intervals) for key in keys)
        rows.append([f"{one} - {other}", *chain.from_iterable(cells)])
    return rows


def _difference_cells(difference: Difference | None, with_interval: bool) -> tuple[str, str]:
    if difference is None:
        return "-", "-"
    metric = _BY_KEY[difference.metric]
    value, low, high = (
        f"{v * metric.scale:+.{metric.digits}f}"
        for v in (difference.value, difference.low, difference.high)
    )
    text = f"{value} [{low}, {high}]" if with_interval else value
    return text, shown_p(difference.p)


def notes(evaluation: Evaluation) -> list[str]:
    """Return explanations of the figures, a sentence or two each."""
    settings = evaluation.settings
    words = "Porter stems" if settings["stem"] else "words not stemmed"
    notes = [
        f"{len(evaluation.ids):,} examples. ROUGE F1 x 100, {words}; R-L takes each text as one "
        "sequence, R-Lsum parts it into sentences. Shares are in percent.",
        "Intervals, in brackets: 95 %, bootstrap over examples. p: two-sided, approximate "
        f"randomization, not corrected for the number of tests. {settings['samples']:,} resamples, "
        f"seed {settings['seed']}.",
    ]
    if any(figures["log_perplexity"].value is not None for figures in evaluation.figures.values()):
        notes.append(
            "log-ppl is a natural logarithm per subword of the gold lead, or of the gold article "
            "for models that write articles: compare only systems with the same vocabulary and "
            "target."
        )
    if settings.get("skip_title"):
        notes.append("Summaries and leads are scored without the title that they begin with.")
    notes += _attention_notes(evaluation)
    if any(system["is_baseline"] for system in evaluation.systems):
        notes.append("Baselines are cut at the gold lead's number of words.")
    for system in evaluation.systems:
        if system["left_out"]:
            notes.append(
                f"{system['left_out']:,} summaries of {system['name']} are left out: not every "
                "system has the example."
            )
    return notes


def _attention_notes(evaluation: Evaluation) -> list[str]:
    """What the attention column shows, and which systems have no attention to paragraphs."""
    key = "attention_cosine"
    if key not in _present(evaluation):
        return []
    missing = [
        system["name"]
        for system in evaluation.systems
        if not system["is_baseline"] and evaluation.figures[system["name"]][key].value is None
    ]
    note = (
        "attention is the measure of the PHT paper; flat models have the attention to their tokens "
        "summed by paragraph."
    )
    return [note, *(f"{name} tells of no attention to paragraphs." for name in missing)]


def sources(evaluation: Evaluation) -> list[str]:
    """Where each system's summaries come from, and with what settings they were made."""
    lines = []
    for system in evaluation.systems:
        details = [system["source"]]
        if system["run"]:
            details.append(f"run {system['run']}")
        if system["settings"]:
            details.append(json.dumps(system["settings"], ensure_ascii=False))
        lines.append(f"{system['name']}: {', '.join(details)}")
    return lines
