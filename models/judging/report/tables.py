"""The results of a study as text for a terminal, as Markdown and as CSV."""

import math

from wikisum.models.judging.report.judgments import Measure
from wikisum.models.judging.report.published import PUBLISHED
from wikisum.models.judging.report.results import Results
from wikisum.ranker.runs.tables import csv_of, markdown_table, shown_p, text_columns

TESTS = {
    "sign": "sign test",
    "permutation": "permutation",
    "welch": "Welch",
    "tukey": "Tukey",
    "mcnemar": "McNemar",
}
Rows = list[list[str]]


def shown(measure: Measure, value: float, signed: bool = False) -> str:
    """Return a value as it stands in a table; a dash for NaN."""
    sign = "+" if signed else ""
    return "-" if math.isnan(value) else f"{value * measure.factor:{sign}.{measure.digits}f}"


def mean_rows(results: Results) -> Rows:
    """Return a head, and for each system its means with intervals and the number of judgments."""
    found = {(mean.measure, mean.system): mean for mean in results.means}
    rows = [["system", *(m.label for m in results.measures), "judgments"]]
    for system, name in enumerate(results.study.systems):
        cells, count = [], 0
        for measure in results.measures:
            mean = found.get((measure.key, system))
            if mean is None or not mean.judgments:
                cells.append("-")
                continue
            low, high = shown(measure, mean.low), shown(measure, mean.high)
            cells.append(f"{shown(measure, mean.value)} [{low}, {high}]")
            count = mean.judgments
        rows.append([name, *cells, str(count)])
    return rows


def comparison_rows(results: Results) -> Rows:
    """Return a head and a row for each measure and two systems; only a head for one system."""
    if results.study.protocol.kind == "preference":
        return _preference_rows(results)
    labels = {measure.key: measure for measure in results.measures}
    names = results.study.systems
    tests = list(dict.fromkeys(test for c in results.comparisons for test in c.p))
    rows = [["measure", "systems", "difference", "better / equal / worse",
             *(f"p, {TESTS[test]}" for test in tests)]]  # fmt: skip
    for c in results.comparisons:
        measure = labels[c.measure]
        difference = shown(measure, c.difference, signed=True)
        low, high = (shown(measure, v, signed=True) for v in (c.low, c.high))
        rows.append([
            measure.label, f"{names[c.one]} - {names[c.other]}", f"{difference} [{low}, {high}]",
            f"{c.wins} / {c.ties} / {c.losses}", *(shown_p(c.p[test]) for test in tests),
        ])  # fmt: skip
    return rows


def _preference_rows(results: Results) -> Rows:
    names = results.study.systems
    rows = [["A", "B", "prefer A", "no preference", "prefer B", "prefer B / prefer A",
             *(f"p, {TESTS[test]}" for test in ("sign", "permutation"))]]  # fmt: skip
    for c in results.comparisons:
        ratio = f"{c.losses / c.wins:.2f}" if c.wins else "-"
        rows.append([
            names[c.one], names[c.other], str(c.wins), str(c.ties), str(c.losses), ratio,
            shown_p(c.p["sign"]), shown_p(c.p["permutation"]),
        ])  # fmt: skip
    return rows


def variance_rows(results: Results) -> Rows:
    """Return a head and a row for each analysis of variance."""
    labels = {measure.key: measure.label for measure in results.measures}
    rows = [["measure", "F", "p"]]
    for v in results.variances:
        f = "-" if math.isnan(v.f) else f"{v.f:.3f}"
        rows.append([labels[v.measure], f, shown_p(v.p)])
    return rows


def agreement_rows(results: Results) -> Rows:
    """Return a head and a row for each alpha."""
    labels = {measure.key: measure.label for measure in results.measures}
    rows = [["measure", "level", "alpha", "units"]]
    for a in results.agreements:
        alpha = "-" if math.isnan(a.alpha) else f"{a.alpha:.3f}"
        rows.append([labels.get(a.measure, "Marks of answers"), a.level, alpha, str(a.units)])
    return rows


def progress_line(results: Results) -> str:
    """Return how many screens are complete, by judge."""
    done = results.judgments.done
    complete, total = (sum(counts[i] for counts in done.values()) for i in (0, 1))
    by_judge = ", ".join(f"judge {j}: {d} of {n}" for j, (d, n) in done.items())
    return f"{complete} of {total} screens are complete ({by_judge})."


def notes(results: Results) -> list[str]:
    """Return explanations of the figures, a sentence or two each."""
    kind = results.study.protocol.kind
    found = [progress_line(results)]
    if results.judgments.unmarked:
        found.append(f"{results.judgments.unmarked} answers are not marked yet and left out.")
    found.append(
        "Intervals, in brackets: 95 %, bootstrap over examples. "
        f"{results.samples:,} resamples, seed {results.seed}."
    )
    if kind == "preference":
        found.append(
            "Sign test: binomial, over judgments without ties. Permutation: signs of each "
            "example's mean preference. Both two-sided, not corrected for the number of tests."
        )
    else:
        found.append(
            "Welch and the analysis of variance with Tukey's HSD take each judgment as an "
            "observation, as in the papers. The sign and permutation tests take the difference "
            "of two systems' means for each example. Only Tukey's HSD corrects for the number of "
            "pairs; no test corrects for the number of measures."
        )
    if kind == "questions":
        found.append(
            "McNemar: exact, over questions. A system answers a question if the mean mark of its "
            "judges is above 0.5."
        )
    if kind == "best-worst":
        found.append("A judgment is 1 for the best summary, -1 for the worst, 0 for others shown.")
    found.append(
        "Alpha is Krippendorff's: 1 for perfect agreement, 0 for agreement by chance; over units "
        "with at least two judges."
    )
    return found


def text_table(results: Results) -> str:
    """Return the means in columns for a terminal, and the progress under them."""
    rows = mean_rows(results)
    return "\n".join([*text_columns(rows), "", progress_line(results)]) + "\n"


def sections(results: Results) -> list[tuple[str, Rows]]:
    """Return the tables with their headings, without those that have no row."""
    tables = [
        ("Means", mean_rows(results)),
        ("Comparisons of two systems", comparison_rows(results)),
        ("Analysis of variance", variance_rows(results)),
        ("Agreement of judges", agreement_rows(results)),
    ]
    return [(title, rows) for title, rows in tables if len(rows) > 1]


def markdown(results: Results) -> str:
    """Return all tables, the notes, and the paper's results."""
    protocol = results.study.protocol
    parts = [f"# {protocol.title}\n"]
    for title, rows in sections(results):
        parts += [f"## {title}\n", markdown_table(rows)]
    parts += ["## Notes\n", "\n".join(f"- {note}" for note in notes(results)) + "\n"]
    if published := PUBLISHED.get(protocol.name):
        parts.append(f"## Published results: {published.source}\n")
        if published.rows:
            parts.append(markdown_table(published.rows))
        parts.append(f"{published.note}\n")
    return "\n".join(parts)


def means_csv(results: Results) -> str:
    """Return a row for each measure and system, with values as they are."""
    names = results.study.systems
    rows = [[m.measure, names[m.system], *m[2:]] for m in results.means]
    return csv_of([["measure", "system", "mean", "low", "high", "judgments"], *rows])


def comparisons_csv(results: Results) -> str:
    """Return a row for each measure and two systems; p is empty where a test does not apply."""
    names = results.study.systems
    head = ["measure", "one", "other", "difference", "low", "high", "wins", "ties", "losses"]
    rows = [
        [c.measure, names[c.one], names[c.other], *c[3:9], *(c.p.get(test, "") for test in TESTS)]
        for c in results.comparisons
    ]
    return csv_of([[*head, *(f"p_{test}" for test in TESTS)], *rows])


def agreement_csv(results: Results) -> str:
    """Return a row for each alpha."""
    return csv_of([["measure", "level", "alpha", "units"], *results.agreements])


def judgments_csv(results: Results) -> str:
    """Return a row for each value that a judge gave."""
    examples, names = results.study.store.examples(), results.study.systems
    rows = [
        [v.judge, examples[v.example].id, v.item, v.measure, names[v.system], v.value]
        for v in results.judgments.values
    ]
    return csv_of([["judge", "id", "item", "measure", "system", "value"], *rows])


def comments_csv(results: Results) -> str:
    """Return a row for each comment."""
    examples = results.study.store.examples()
    rows = [[judge, examples[e].id, text] for judge, e, text in results.judgments.comments]
    return csv_of([["judge", "id", "comment"], *rows])
