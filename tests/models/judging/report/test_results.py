import numpy as np
import pytest
from scipy import stats

from wikisum.models.judging.questions import Question
from wikisum.models.judging.report.agreement import krippendorff_alpha
from wikisum.models.judging.report.results import results_of

ASKED = {f"e{n}": [Question("Who?", "A"), Question("Why?", "C")] for n in range(4)}


def rating(judge, screen, field):
    """Ratings that differ by system, example and judge."""
    return 1 + screen.systems[0] + (screen.example * judge) % 2


@pytest.mark.slow
def test_ratings_by_scipy(make_study, answer):
    study = make_study(judges=3, judges_per_item=3)
    answer(study, rating)
    found = results_of(study, 500, 0)
    groups = [[1 + k + (e * j) % 2 for e in range(4) for j in (1, 2, 3)] for k in range(3)]
    means = [m for m in found.means if m.measure == "focus"]
    assert [m.value for m in means] == pytest.approx([np.mean(g) for g in groups])
    assert all(m.low <= m.value <= m.high and m.judgments == 12 for m in means)
    c = next(c for c in found.comparisons if (c.measure, c.one, c.other) == ("focus", 0, 2))
    assert c.difference == pytest.approx(np.mean(groups[0]) - np.mean(groups[2]))
    assert c.low <= c.difference <= c.high
    assert (c.wins, c.ties, c.losses) == (0, 0, 4)
    assert c.p["welch"] == pytest.approx(stats.ttest_ind(groups[0], groups[2], equal_var=False)[1])
    assert c.p["tukey"] == pytest.approx(stats.tukey_hsd(*groups).pvalue[0, 2])
    assert c.p["sign"] == c.p["permutation"] == pytest.approx(2 / 16)
    variance = next(v for v in found.variances if v.measure == "focus")
    assert (variance.f, variance.p) == pytest.approx(tuple(stats.f_oneway(*groups)))
    units = [[groups[k][3 * e + j] for j in range(3)] for e in range(4) for k in range(3)]
    alphas = {a.level: a for a in found.agreements if a.measure == "focus"}
    assert alphas["ordinal"].units == 12
    for level in ("ordinal", "interval"):
        assert alphas[level].alpha == pytest.approx(krippendorff_alpha(units, level))
    assert results_of(study, 500, 0) == found


def test_preferences_are_counted_by_pair(make_study, answer):
    study = make_study("preference", judges=2, ties=True)

    def value(judge, screen, field):
        if judge == 2 and screen.example == 0:
            return "tie"
        return screen.systems.index(max(screen.systems))

    answer(study, value)
    found = results_of(study, 200, 0)
    assert [(c.one, c.other, c.wins, c.ties, c.losses) for c in found.comparisons] == [
        (0, 1, 0, 1, 7), (0, 2, 0, 1, 7), (1, 2, 0, 1, 7)
    ]  # fmt: skip
    assert found.comparisons[0].p == {
        "sign": pytest.approx(2 / 2**7), "permutation": pytest.approx(2 / 2**4)
    }  # fmt: skip
    assert [m.value for m in found.means] == pytest.approx([1 / 16, 0.5, 15 / 16])
    assert found.variances == []
    (agreement,) = found.agreements
    units = 3 * ([[0, 0.5]] + 3 * [[0, 0]])
    assert agreement.alpha == pytest.approx(krippendorff_alpha(units, "nominal"))
    assert (agreement.level, agreement.units) == ("nominal", 12)


def test_best_less_worst(make_study, answer):
    study = make_study("best-worst", judges=2)

    def value(judge, screen, field):
        order = (2, 0) if screen.example else (1, 2)
        return screen.systems.index(order[field == "worst"])

    answer(study, value)
    found = results_of(study, 200, 0)
    assert [m.value for m in found.means] == pytest.approx([-0.75, 0.25, 0.5])
    (agreement,) = found.agreements
    assert agreement == ("rating", "ordinal", 1.0, 12)


def test_questions_are_scored_by_marks(make_study, answer, mark):
    study = make_study("questions", questions=ASKED, judges=3, judges_per_item=1, markers=2)
    texts = ("right", "half", "wrong")
    answer(study, lambda judge, screen, field: texts[screen.systems[0]])
    values = {"right": 1, "half": 0.5, "wrong": 0}
    mark(study, texts, lambda marker, text: values[text])
    found = results_of(study, 200, 0)
    assert [m.value for m in found.means] == [1, 0.5, 0]
    p = {(c.one, c.other): c.p["mcnemar"] for c in found.comparisons}
    assert p[0, 1] == p[0, 2] == pytest.approx(2 / 2**8)  # a mean mark of 0.5 is not an answer
    assert np.isnan(p[1, 2])
    assert [(a.measure, a.level) for a in found.agreements] == [
        ("score", "ordinal"), ("score", "interval"), ("marks", "ordinal")
    ]  # fmt: skip
    assert found.agreements[2].alpha == 1


def test_a_study_without_answers_has_empty_results(make_study):
    found = results_of(make_study(), 100, 0)
    assert found.means == []
    assert len(found.comparisons) == 15
    assert all(np.isnan(c.difference) for c in found.comparisons)
    assert all(np.isnan(a.alpha) for a in found.agreements)
