import pytest

from tests.models.judging.conftest import SYSTEMS
from wikisum.models.judging.questions import Question
from wikisum.models.judging.web.screens import Progress

ANSWERS = ("A", "x", "", "x", "other", "x")
ASKED = {f"e{n}": [Question("Who?", "The A"), Question("Why?", "C")] for n in range(4)}


def progress(study, number=1):
    judge = study.store.judges()[number - 1]
    return Progress(study, study.store.examples(), judge)


def answer(study, judge, position, value="3"):
    fields = progress(study, judge).fields(position)
    study.store.save(judge, position, {field.name: value for field in fields})


def test_progress_follows_the_answers(make_study):
    study = make_study()
    assert progress(study).done() == [False] * 8
    assert progress(study).next_open() == 1
    for position in (1, 2, 4):
        answer(study, 1, position)
    study.store.save(1, 3, {"focus": "2"})
    now = progress(study)
    assert now.done() == [True, True, False, True] + [False] * 4
    assert [now.next_open(after) for after in (0, 3, 8)] == [3, 5, 3]
    assert now.view(3).values == {"focus": "2"}
    for position in range(1, 9):
        answer(study, 1, position)
    assert progress(study).next_open() is None
    assert progress(study, 2).next_open() == 1


@pytest.mark.parametrize(
    ("protocol", "labels"),
    [
        ("duc", ["Summary"]),
        ("pht", ["Reference text", "Summary"]),
        ("preference", ["Reference text", "Summary A", "Summary B"]),
        ("best-worst", ["Reference text", "Summary A", "Summary B", "Summary C"]),
    ],
)
def test_a_screen_shows_its_summaries_in_the_assigned_order(make_study, protocol, labels):
    study = make_study(protocol)
    screen = study.store.screens(1)[0]
    view = progress(study).view(1)
    assert [text.label for text in view.texts] == labels
    shown = [text.text for text in view.texts if not text.is_reference]
    example = study.store.examples()[screen.example]
    assert shown == [f"Text {s} of example {example.id[1:]}." for s in screen.systems]
    assert view.paragraphs == example.paragraphs
    assert not any(name in repr(view) for name in SYSTEMS)


def test_a_marker_sees_the_different_answers_to_a_question(make_study):
    study = make_study("questions", questions=ASKED, judges=6)
    assert progress(study, 7).fields(1) == []
    assert progress(study, 7).next_open() is None
    question = study.store.screens(7)[0]
    assert question.question == 0
    for judge, text in zip(range(1, 7), ANSWERS, strict=True):
        position = next(
            p for p, s in enumerate(study.store.screens(judge), 1) if s.example == question.example
        )
        study.store.save(judge, position, {"q1": text, "q2": "elsewhere"})
    now = progress(study, 7)
    assert [(f.label, f.suggested) for f in now.fields(1)] == [
        ("A", "1"), ("other", None), ("x", None)
    ]  # fmt: skip
    assert now.next_open() == 1
    assert [text.label for text in now.view(1).texts] == ["Question", "Correct answer"]
    assert now.view(1).paragraphs == ()
    study.store.save(7, 1, {field.name: "0.5" for field in now.fields(1)})
    assert progress(study, 7).is_done(1)
    study.store.save(1, 1, {"q1": "a new answer"})
    assert not all(progress(study, 7).done())
