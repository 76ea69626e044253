"""The fields of a screen: what is asked, which answers are possible, which are missing."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from wikisum.models.judging.protocols import MARKS, Option, Protocol
from wikisum.models.judging.questions import Question

COMMENT = "comment"
PREFERRED, BEST, WORST = "preferred", "best", "worst"
TIE = "tie"
MAX_ANSWER = 2000
_LETTERS = "ABCDEFGHIJ"


class Field(NamedTuple):
    """A question on a screen; without options the answer is a text. `suggested` is preselected."""

    name: str
    label: str
    text: str = ""
    options: tuple[Option, ...] = ()
    is_optional: bool = False
    suggested: str | None = None


def fields_of(
    protocol: Protocol,
    shown: int,
    questions: Sequence[Question],
    ties: bool = False,
    comments: bool = False,
) -> list[Field]:
    """Return the fields of a judge's screen that shows so many summaries."""
    fields = _fields_of_kind(protocol, shown, questions, ties)
    if comments:
        fields.append(Field(COMMENT, "Comment", "Optional: the reason for your answer.", (), True))
    return fields


def _fields_of_kind(
    protocol: Protocol, shown: int, questions: Sequence[Question], ties: bool
) -> list[Field]:
    if protocol.kind == "rating":
        return [Field(s.key, s.label, s.text, s.options) for s in protocol.scales]
    if protocol.kind == "questions":
        return [Field(question_field(n), q.text) for n, q in enumerate(questions)]
    options = tuple(Option(str(n), summary_label(n), str(n + 1)) for n in range(shown))
    if protocol.kind == "preference":
        tie = (Option(TIE, "No preference", str(shown + 1)),) if ties else ()
        return [Field(PREFERRED, "Which summary do you prefer?", "", options + tie)]
    return [
        Field(BEST, "Which summary is the best?", "", options),
        Field(WORST, "Which summary is the worst?", "", options),
    ]


def question_field(number: int) -> str:
    """Return the name of the field of an example's question, counted from 0."""
    return f"q{number + 1}"


def summary_label(index: int) -> str:
    """Return the name under which a summary is shown."""
    return f"Summary {_LETTERS[index]}"


def mark_field(answer: str) -> str:
    """Return the name of the field that marks an answer; equal answers share one."""
    return "a" + hashlib.sha256(answer.encode()).hexdigest()[:24]


def mark_fields(question: Question, answers: Iterable[str]) -> list[Field]:
    """Return a field for each different answer to a question; empty answers are not marked.

    An answer that equals the gold one but for case, punctuation and articles is suggested as
    correct.
    """
    different = sorted({answer for answer in answers if answer.strip()})
    gold = _normalized(question.answer)
    return [
        Field(
            mark_field(answer),
            answer,
            options=MARKS,
            suggested="1" if _normalized(answer) == gold else None,
        )
        for answer in different
    ]


def _normalized(answer: str) -> list[str]:
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", answer).casefold())
    return [word for word in words if word not in ("a", "an", "the")]


def faults(fields: Sequence[Field], values: Mapping[str, str]) -> list[str]:
    """Return a sentence for each answer that is missing or does not fit the others."""
    found = [
        f"Please answer: {field.label}"
        for field in fields
        if field.options and not field.is_optional and field.name not in values
    ]
    if BEST in values and values[BEST] == values.get(WORST):
        found.append("The best and the worst summary cannot be the same.")
    return found


def is_complete(fields: Sequence[Field], values: Mapping[str, str]) -> bool:
    """Whether every field has an answer; an empty text is one once it is saved."""
    required = [field.name for field in fields if not field.is_optional]
    return all(name in values for name in required) and not faults(fields, values)


def fitting(fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, str]:
    """Return the given answers that belong to a field and that it allows; texts are cut."""
    kept = {}
    for field in fields:
        value = given.get(field.name)
        if value is None:
            continue
        if not field.options:
            kept[field.name] = value.strip()[:MAX_ANSWER]
        elif any(value == option.value for option in field.options):
            kept[field.name] = value
    return kept
