import csv
import io
import json

import numpy as np
import pytest

from wikisum.models.evaluation.evaluate import Difference, Evaluation, Figure
from wikisum.models.evaluation.metrics import COLUMNS, METRICS, Metric
from wikisum.models.evaluation.tables import (
    csv_text,
    difference_rows,
    examples_csv,
    figure_rows,
    markdown,
    notes,
    plain_values,
    shown,
    shown_p,
    sources,
    text_table,
)

ABSENT = Figure(None, None, None, 0)


def figures(**known):
    return {metric.key: known.get(metric.key, ABSENT) for metric in COLUMNS}


def system(name, **changes):
    return {
        "name": name, "source": f"{name}.jsonl", "run": None, "settings": None, "left_out": 0,
        "is_baseline": False, **changes,
    }  # fmt: skip


def evaluation(**changes):
    parts = np.zeros((2, 2, 2, len(METRICS)))
    parts[0, 0, :, 0] = 3, 4
    parts[1, 1, :, 0] = 1, 2
    result = Evaluation(
        settings={"stem": True, "samples": 1_000, "seed": 7},
        systems=[
            system("ht", run="f00d", settings={"beam": 5, "é": 1}), system("a|b"),
        ],
        ids=["x", "y"],
        figures={
            "ht": figures(rouge1=Figure(0.5, 0.4, 0.62345, 2), words=Figure(12.34, 1, 2, 2)),
            "a|b": figures(words=Figure(7.0, 5, 9, 2), density=Figure(1.5, 1, 2, 2)),
        },
        differences=[Difference("ht", "a|b", "rouge1", -0.0123, -0.02, 0.01, 0.5)],
        parts_NK2M=parts,
    )  # fmt: skip
    return result._replace(**changes)


def test_values_are_scaled_and_rounded():
    metric = Metric("k", "label", "meaning")
    assert shown(metric, 0.123456) == "12.35"
    assert shown(metric, 0.0) == "0.00"
    assert shown(metric, None) == "-"
    assert shown(metric._replace(scale=1.0, digits=1), 3.14) == "3.1"


@pytest.mark.parametrize(
    ("p", "shown"), [(1.0, "1.0000"), (0.00994, "0.0099"), (0.0001, "0.0001"), (9.9e-5, "<0.0001")]
)
def test_the_least_p_is_not_shown_as_zero(p, shown):
    assert shown_p(p) == shown


def test_figures_have_intervals_where_systems_are_compared():
    assert figure_rows(evaluation()) == [
        ["system", "R-1", "words", "density"],
        ["ht", "50.00 [40.00, 62.34]", "12.3", "-"],
        ["a|b", "-", "7.0", "1.50"],
    ]


def test_differences_are_signed():
    assert difference_rows(evaluation()) == [
        ["systems", "R-1", "p"],
        ["ht - a|b", "-1.23 [-2.00, +1.00]", "0.5000"],
    ]
    assert difference_rows(evaluation(), with_intervals=False)[1][1] == "-1.23"
    assert difference_rows(evaluation(differences=[])) == [["systems", "R-1", "p"]]


def test_a_missing_difference_is_a_dash():
    more = Figure(0.5, 0.4, 0.6, 2)
    known = {"ht": figures(rouge1=more, rouge2=more), "a|b": figures(rouge1=more)}
    rows = difference_rows(evaluation(figures=known))
    assert rows[1] == ["ht - a|b", "-1.23 [-2.00, +1.00]", "0.5000", "-", "-"]


def test_a_terminal_gets_aligned_columns_without_coverage_and_density():
    lines = text_table(evaluation()).split("\n")
    assert lines[:3] == ["system    R-1  words", "ht      50.00   12.3", "a|b         -    7.0"]
    assert lines[3:7] == ["", "systems     R-1       p", "ht - a|b  -1.23  0.5000", ""]
    assert lines[7:-1] == notes(evaluation())
    assert lines[-1] == ""
    alone = text_table(evaluation(differences=[])).split("\n")
    assert alone[4:-1] == notes(evaluation())


def test_markdown_has_tables_notes_meanings_and_sources():
    text = markdown(evaluation())
    assert "| system | R-1 | words | density |\n| --- | --- | --- | --- |\n| ht | 50.00" in text
    assert "\n| a\\|b | - | 7.0 | 1.50 |\n" in text
    assert "| ht - a\\|b | -1.23 [-2.00, +1.00] | 0.5000 |" in text
    for line in [*notes(evaluation()), *sources(evaluation()), "R-1: ROUGE-1 F1"]:
        assert f"- {line}\n" in text
    assert "R-2" not in text
    assert "## Paired tests" in text
    assert "## Paired tests" not in markdown(evaluation(differences=[]))


def test_csv_has_the_values_as_they_are():
    rows = list(csv.DictReader(io.StringIO(csv_text(evaluation()))))
    assert [(r["system"], r["examples"]) for r in rows] == [("ht", "2"), ("a|b", "2")]
    one = rows[0]
    assert (one["rouge1"], one["rouge1_low"], one["rouge1_high"]) == ("0.5", "0.4", "0.62345")
    assert (one["density"], one["words"]) == ("", "12.34")
    assert len(one) == 2 + 3 * len(COLUMNS)
    assert "\r" not in csv_text(evaluation())


def test_each_example_has_its_own_row():
    rows = list(csv.DictReader(io.StringIO(examples_csv(evaluation()))))
    assert [(r["system"], r["id"]) for r in rows] == [
        ("ht", "x"), ("ht", "y"), ("a|b", "x"), ("a|b", "y"),
    ]  # fmt: skip
    assert [r[METRICS[0].key] for r in rows] == ["0.75", "", "", "0.5"]
    assert all(r[METRICS[1].key] == "" for r in rows)


def test_plain_values_survive_json():
    plain = json.loads(json.dumps(plain_values(evaluation())))
    assert (plain["examples"], plain["settings"]["seed"]) == (2, 7)
    assert plain["meaning"]["rouge1"] == "ROUGE-1 F1"
    assert plain["systems"][0]["figures"]["rouge1"] == {
        "value": 0.5, "low": 0.4, "high": 0.62345, "examples": 2,
    }  # fmt: skip
    assert plain["systems"][1]["figures"]["rouge1"]["value"] is None
    assert [d["p"] for d in plain["differences"]] == [0.5]


def test_notes_depend_on_what_is_there():
    plain = " ".join(notes(evaluation()))
    assert "2 examples" in plain
    assert "Porter stems" in plain
    assert "1,000 resamples, seed 7" in plain
    for word in ("log-ppl", "Baselines", "left out", "not stemmed"):
        assert word not in plain
    settings = {**evaluation().settings, "stem": False}
    systems = [system("ht", left_out=1_234), system("lead", is_baseline=True)]
    known = {"ht": figures(log_perplexity=Figure(2.0, 1, 3, 2)), "lead": figures()}
    other = notes(evaluation(settings=settings, systems=systems, figures=known))
    text = " ".join(other)
    assert "not stemmed" in text
    for word in ("log-ppl", "Baselines", "1,234 summaries of ht are left out"):
        assert word in text
    assert len(other) == len(notes(evaluation())) + 3


def test_sources_name_file_run_and_settings():
    assert sources(evaluation()) == [
        'ht: ht.jsonl, run f00d, {"beam": 5, "é": 1}', "a|b: a|b.jsonl",
    ]  # fmt: skip
