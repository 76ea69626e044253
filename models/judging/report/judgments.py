"""The answers of a study as values of systems."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from wikisum.models.judging.assignment import Screen
from wikisum.models.judging.fields import (
    BEST,
    COMMENT,
    PREFERRED,
    TIE,
    WORST,
    fields_of,
    is_complete,
    mark_field,
    question_field,
)
from wikisum.models.judging.store import JUDGE, MARKER, Example
from wikisum.models.judging.study import Study

AnswerKey = tuple[int, int, str]  # example, question, and the hash of the answer


class Measure(NamedTuple):
    """What is measured: its range, and how values are shown (times `factor`)."""

    key: str
    label: str
    low: float
    high: float
    factor: float = 1.0
    digits: int = 2


class Judgment(NamedTuple):
    """One value that one judge gave one system.

    `item` separates what is judged of one example: the systems shown together, or the question.
    """

    judge: int
    example: int
    item: str
    measure: str
    system: int
    value: float


class Mark(NamedTuple):
    """The value that a marker gave to an answer to a question."""

    marker: int
    answer: AnswerKey
    value: float


class Judgments(NamedTuple):
    """All values of a study; `done` counts the complete screens of each judge out of all.

    `unmarked` is the number of answers that no marker has marked; they are not among the values.
    """

    values: list[Judgment]
    comments: list[tuple[int, int, str]]
    done: dict[int, tuple[int, int]]
    marks: list[Mark]
    unmarked: int = 0


MEASURES = {
    "preference": Measure("preferred", "Preferred, %", 0, 1, 100, 1),
    "best-worst": Measure("rating", "Best less worst", -1, 1),
    "questions": Measure("score", "Answered, %", 0, 1, 100, 1),
}


def measures_of(study: Study) -> list[Measure]:
    """Return what a study measures: its scales, or the one measure of its protocol."""
    if study.protocol.kind != "rating":
        return [MEASURES[study.protocol.kind]]
    return [
        Measure(s.key, s.label, float(s.options[0].value), float(s.options[-1].value))
        for s in study.protocol.scales
    ]


def read_judgments(study: Study) -> Judgments:
    """Return the values of all complete screens."""
    examples = study.store.examples()
    marks = _marks(study)
    mean_by_answer = _means(marks)
    found = Judgments([], [], {}, marks)
    unmarked = 0
    for judge in (j.number for j in study.store.judges() if j.role == JUDGE):
        screens = study.store.screens(judge)
        answers = study.store.values(judge)
        complete = [
            (screen, answers[position])
            for position, screen in enumerate(screens, 1)
            if _is_complete(study, screen, examples, answers[position])
        ]
        found.done[judge] = (len(complete), len(screens))
        for screen, given in complete:
            if given.get(COMMENT):
                found.comments.append((judge, screen.example, given[COMMENT]))
            if study.protocol.kind == "questions":
                unmarked += _add_answered(found.values, judge, screen, given, mean_by_answer)
            else:
                found.values.extend(_judged(study, judge, screen, given))
    return found._replace(unmarked=unmarked)


def _marks(study: Study) -> list[Mark]:
    found = []
    for marker in (j.number for j in study.store.judges() if j.role == MARKER):
        screens = study.store.screens(marker)
        for answer in study.store.answers(marker):
            screen = screens[answer.position - 1]
            key = (screen.example, screen.question or 0, answer.field)
            found.append(Mark(marker, key, float(answer.value)))
    return found


def _means(marks: list[Mark]) -> dict[AnswerKey, float]:
    by_answer: defaultdict[AnswerKey, list[float]] = defaultdict(list)
    for mark in marks:
        by_answer[mark.answer].append(mark.value)
    return {answer: sum(values) / len(values) for answer, values in by_answer.items()}


def _is_complete(
    study: Study, screen: Screen, examples: list[Example], values: Mapping[str, str]
) -> bool:
    questions = examples[screen.example].questions
    fields = fields_of(study.protocol, len(screen.systems), questions, study.settings.ties)
    return is_complete(fields, values)


def _judged(study: Study, judge: int, screen: Screen, given: Mapping[str, str]) -> list[Judgment]:
    """The values of a screen of ratings, of a preference, or of the best and the worst."""
    example, systems = screen.example, screen.systems
    if study.protocol.kind == "rating":
        return [
            Judgment(judge, example, "", s.key, systems[0], float(given[s.key]))
            for s in study.protocol.scales
        ]
    item = "-".join(map(str, sorted(systems)))
    key = MEASURES[study.protocol.kind].key
    if study.protocol.kind == "preference":
        chosen = given[PREFERRED]
        shares = [0.5 if chosen == TIE else float(chosen == str(n)) for n in range(len(systems))]
    else:
        shares = [float(given[BEST] == str(n)) - float(given[WORST] == str(n))
                  for n in range(len(systems))]  # fmt: skip
    return [
        Judgment(judge, example, item, key, system, value)
        for system, value in zip(systems, shares, strict=True)
    ]


def _add_answered(
    values: list[Judgment],
    judge: int,
    screen: Screen,
    given: Mapping[str, str],
    mean_by_answer: Mapping[AnswerKey, float],
) -> int:
    """Add the marks of a judge's answers; return how many answers are not marked yet.

    An empty answer has 0.
    """
    numbers = sorted(int(field[1:]) - 1 for field in given if field != COMMENT)
    unmarked = 0
    for number in numbers:
        answer = given[question_field(number)]
        key = (screen.example, number, mark_field(answer))
        value = mean_by_answer.get(key) if answer else 0.0
        if value is None:
            unmarked += 1
        else:
            item = question_field(number)
            values.append(Judgment(judge, screen.example, item, "score", screen.systems[0], value))
    return unmarked
