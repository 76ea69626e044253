from wikisum.models.judging.questions import Question
from wikisum.models.judging.report.judgments import Judgment, measures_of, read_judgments

ASKED = {f"e{n}": [Question("Who?", "A"), Question("Why?", "C")] for n in range(4)}


def test_ratings_are_values_of_their_system(make_study, answer):
    study = make_study("pht", judges=2)
    answer(study, lambda judge, screen, field: min(2, 1 + screen.systems[0]))
    found = read_judgments(study)
    assert found.done == {1: (12, 12), 2: (12, 12)}
    assert len(found.values) == 2 * 12 * 4
    assert {(v.system, v.value) for v in found.values} == {(0, 1), (1, 2), (2, 2)}
    assert [(m.key, m.low, m.high) for m in measures_of(study)][2:] == [
        ("conciseness", 1, 5), ("factual_consistency", 0, 2)
    ]  # fmt: skip


def test_incomplete_screens_are_left_out_and_comments_kept(make_study, answer):
    study = make_study(judges=2, comments=True)

    def value(judge, screen, field):
        if field == "comment":
            return f"judge {judge}" if screen.systems == (1,) and screen.example == 2 else None
        return None if judge == 2 and field == "focus" and screen.example == 0 else 3

    answer(study, value)
    found = read_judgments(study)
    assert found.done == {1: (12, 12), 2: (9, 12)}
    assert not [v for v in found.values if v.judge == 2 and v.example == 0]
    assert found.comments == [(1, 2, "judge 1"), (2, 2, "judge 2")]


def test_a_preference_is_shared_by_two_systems(make_study, answer):
    study = make_study("preference", judges=2, ties=True)

    def value(judge, screen, field):  # the higher number is better; judge 2 sees no difference
        return "tie" if judge == 2 else screen.systems.index(max(screen.systems))

    answer(study, value)
    found = read_judgments(study).values
    assert len(found) == 2 * 12 * 2
    assert {v.value for v in found if v.judge == 2} == {0.5}
    assert {(v.item, v.system, v.value) for v in found if v.judge == 1} == {
        ("0-1", 0, 0), ("0-1", 1, 1), ("0-2", 0, 0), ("0-2", 2, 1), ("1-2", 1, 0), ("1-2", 2, 1)
    }  # fmt: skip


def test_the_best_has_1_and_the_worst_minus_1(make_study, answer):
    study = make_study("best-worst", judges=2)
    answer(
        study,
        lambda judge, screen, field: screen.systems.index(2 if field == "best" else 0),
    )
    found = read_judgments(study).values
    assert {(v.system, v.value) for v in found} == {(0, -1), (1, 0), (2, 1)}
    assert len(found) == 2 * 4 * 3


def test_answers_have_the_mean_of_their_marks(make_study, answer, mark):
    study = make_study("questions", questions=ASKED, judges=3, judges_per_item=1, markers=2)

    def value(judge, screen, field):
        return {0: "right", 1: "", 2: "new" if field == "q2" else "half"}[screen.systems[0]]

    answer(study, value)
    marks = {"right": (1, 1), "half": (0.5, 0)}
    mark(study, marks, lambda marker, text: marks[text][marker - 4])
    found = read_judgments(study)
    assert found.unmarked == 4
    assert {(v.system, v.item, v.value) for v in found.values} == {
        (0, "q1", 1), (0, "q2", 1), (1, "q1", 0), (1, "q2", 0), (2, "q1", 0.25)
    }  # fmt: skip
    assert len(found.values) == 5 * 4
    assert isinstance(found.values[0], Judgment)
    assert len(found.marks) == 2 * 8 * 2
