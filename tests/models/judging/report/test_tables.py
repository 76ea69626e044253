import csv
import io
import math

from wikisum.models.judging.questions import Question
from wikisum.models.judging.report import tables
from wikisum.models.judging.report.judgments import Measure
from wikisum.models.judging.report.results import results_of

ASKED = {f"e{n}": [Question("Who?", "A")] for n in range(4)}


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_values_and_p():
    percent = Measure("score", "Answered, %", 0, 1, 100, 1)
    assert tables.shown(percent, 0.5411) == "54.1"
    assert tables.shown(percent, 0.02, signed=True) == "+2.0"
    assert tables.shown(percent, math.nan) == "-"
    assert list(map(tables.shown_p, (0.5, 0.00005, math.nan))) == ["0.5000", "<0.0001", "-"]


def test_tables_of_ratings(make_study, answer):
    study = make_study(judges=2)
    answer(study, lambda judge, screen, field: 2 + screen.systems[0])
    results = results_of(study, 100, 0)
    assert tables.mean_rows(results)[1] == ["alphanet", *["2.00 [2.00, 2.00]"] * 5, "8"]
    head, first, *_ = tables.comparison_rows(results)
    assert dict(zip(head, first, strict=True)) == {
        "measure": "Grammaticality",
        "systems": "alphanet - betanet",
        "difference": "-1.00 [-1.00, -1.00]",
        "better / equal / worse": "0 / 0 / 4",
        "p, sign test": "0.1250",
        "p, permutation": "0.1250",
        "p, Welch": "-",
        "p, Tukey": "-",
    }
    assert tables.agreement_rows(results)[1] == ["Grammaticality", "ordinal", "1.000", "12"]
    text = tables.markdown(results)
    for expected in (
        "# Linguistic quality",
        "| T-DMCA (best) | 4.6 |",
        "Liu et al. 2018, table 5",
        "24 of 24 screens are complete (judge 1: 12 of 12, judge 2: 12 of 12).",
    ):
        assert expected in text
    assert tables.text_table(results).startswith("system ")


def test_csv_has_the_values_themselves(make_study, answer):
    study = make_study(judges=2, comments=True)
    answer(study, lambda j, s, field: "so, so" if field == "comment" else 2 + s.systems[0])
    results = results_of(study, 100, 0)
    assert rows_of(tables.means_csv(results))[1] == [
        "grammaticality", "alphanet", "2.0", "2.0", "2.0", "8"
    ]  # fmt: skip
    head, first, *_ = rows_of(tables.comparisons_csv(results))
    row = dict(zip(head, first, strict=True))
    assert (row["difference"], row["losses"], row["p_sign"]) == ("-1.0", "4", "0.125")
    assert (row["p_welch"], row["p_mcnemar"]) == ("", "")
    judgments = rows_of(tables.judgments_csv(results))
    assert len(judgments) == 1 + 2 * 12 * 5
    assert set(judgments[1][1]) < set("e0123")
    assert rows_of(tables.agreement_csv(results))[1][2:] == ["1.0", "12"]
    assert rows_of(tables.comments_csv(results))[1][2] == "so, so"


def test_a_preference_is_a_ratio(make_study, answer):
    study = make_study("preference", systems=2, judges=3, judges_per_item=3)
    answer(study, lambda j, s, field: s.systems.index(0 if j == 1 else 1))
    head, row = tables.comparison_rows(results_of(study, 100, 0))
    assert head[2:6] == ["prefer A", "no preference", "prefer B", "prefer B / prefer A"]
    assert row == ["alphanet", "betanet", "4", "0", "8", "2.00", "0.3877", "0.1250"]


def test_open_answers_are_noted(make_study, answer):
    study = make_study("questions", questions=ASKED, judges=3, judges_per_item=1)
    answer(study, lambda *_: "text")
    results = results_of(study, 100, 0)
    assert "12 answers are not marked yet and left out." in tables.notes(results)
    assert tables.mean_rows(results)[1] == ["alphanet", "-", "0"]
