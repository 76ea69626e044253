import pytest

from wikisum.models.judging.fields import (
    faults,
    fields_of,
    fitting,
    is_complete,
    mark_field,
    mark_fields,
)
from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.questions import Question


def options(field):
    return [option[:3] for option in field.options]


def test_fields_of_each_kind():
    duc = fields_of(PROTOCOLS["duc"], 1, [])
    assert [field.name for field in duc][:2] == ["grammaticality", "non_redundancy"]
    assert options(duc[0])[0] == ("1", "very poor", "1")
    (preferred,) = fields_of(PROTOCOLS["preference"], 2, [])
    assert options(preferred) == [("0", "Summary A", "1"), ("1", "Summary B", "2")]
    (with_tie,) = fields_of(PROTOCOLS["preference"], 2, [], ties=True)
    assert options(with_tie)[2] == ("tie", "No preference", "3")
    best, worst = fields_of(PROTOCOLS["best-worst"], 3, [])
    assert (best.name, worst.name) == ("best", "worst")
    assert options(best) == options(worst)
    asked = fields_of(PROTOCOLS["questions"], 1, [Question("Who?", "A"), Question("Why?", "B")])
    assert [(f.name, f.label, f.options) for f in asked] == [("q1", "Who?", ()), ("q2", "Why?", ())]
    assert fields_of(PROTOCOLS["duc"], 1, [], comments=True)[-1].is_optional


def test_faults_are_said():
    best_worst = fields_of(PROTOCOLS["best-worst"], 3, [])
    assert len(faults(best_worst, {})) == 2
    assert faults(best_worst, {"best": "1"}) == ["Please answer: Which summary is the worst?"]
    (fault,) = faults(best_worst, {"best": "1", "worst": "1"})
    assert "cannot be the same" in fault
    assert not faults(best_worst, {"best": "1", "worst": "0"})


def test_a_screen_is_complete_with_all_answers():
    duc = fields_of(PROTOCOLS["duc"], 1, [], comments=True)
    values = {field.name: "3" for field in duc if field.options}
    assert is_complete(duc, values)
    assert not is_complete(duc, {"focus": "3"})
    asked = fields_of(PROTOCOLS["questions"], 1, [Question("Who?", "A")])
    assert not is_complete(asked, {})
    assert is_complete(asked, {"q1": ""})


def test_only_answers_that_fit_are_kept():
    duc = fields_of(PROTOCOLS["duc"], 1, [])
    assert fitting(duc, {"focus": "5", "structure": "6", "other": "1"}) == {"focus": "5"}
    asked = fields_of(PROTOCOLS["questions"], 1, [Question("Who?", "A")])
    assert fitting(asked, {"q1": "  x" + "y" * 3000})["q1"] == "x" + "y" * 1999


def test_an_answer_that_equals_the_gold_one_is_suggested():
    given = ["the castine, MAINE", "Maine", "", "  ", "Maine"]
    right, other = mark_fields(Question("Where?", "Castine , Maine"), sorted(given)[::-1])[::-1]
    assert (right.label, right.suggested) == ("the castine, MAINE", "1")
    assert (other.label, other.suggested, other.name) == ("Maine", None, mark_field("Maine"))
    assert [o.value for o in other.options] == ["0", "0.5", "1"]


@pytest.mark.parametrize("answer", ["a", "b\n", "é"])
def test_the_name_of_a_mark_depends_on_the_answer_alone(answer):
    assert mark_field(answer) == mark_field(answer) != mark_field(answer + "x")
