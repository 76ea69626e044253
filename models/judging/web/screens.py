"""What the pages of a judge show. Names of systems are not among it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wikisum.models.judging.assignment import Screen
from wikisum.models.judging.fields import (
    Field,
    fields_of,
    is_complete,
    mark_fields,
    question_field,
    summary_label,
)
from wikisum.models.judging.protocols import MARKING
from wikisum.models.judging.store import JUDGE, MARKER, Example, Judge
from wikisum.models.judging.study import Study


class Text(NamedTuple):
    """A text with its heading; `is_reference` marks a text to compare with."""

    label: str
    text: str
    is_reference: bool = False


class ScreenView(NamedTuple):
    """One screen as its page shows it; `values` are the answers given so far."""

    title: str
    texts: list[Text]
    paragraphs: tuple[str, ...]
    fields: list[Field]
    values: dict[str, str]

    @property
    def keys(self) -> list[str]:
        """The keys that choose an answer, to show them."""
        return sorted({option.key for field in self.fields for option in field.options})


class Progress:
    """A judge's screens with their answers, as they are in the database now."""

    def __init__(self, study: Study, examples: Sequence[Example], judge: Judge) -> None:
        self.study = study
        self.judge = judge
        self.screens = study.store.screens(judge.number)
        self._values = study.store.values(judge.number)
        self._examples = examples
        self._given = _given_answers(study, examples) if judge.role == MARKER else {}

    @property
    def instruction(self) -> str:
        """What the judge is to do."""
        return MARKING if self.judge.role == MARKER else self.study.protocol.instruction

    def fields(self, position: int) -> list[Field]:
        """Return the fields of a screen; those of a marker are the answers given by now."""
        screen = self.screens[position - 1]
        example = self._examples[screen.example]
        if screen.question is not None:
            given = self._given.get((screen.example, screen.question), set())
            return mark_fields(example.questions[screen.question], given)
        settings = self.study.settings
        return fields_of(
            self.study.protocol,
            len(screen.systems),
            example.questions,
            settings.ties,
            settings.comments,
        )

    def values(self, position: int) -> Mapping[str, str]:
        """Return the answers of a screen."""
        return self._values[position]

    def is_done(self, position: int) -> bool:
        """Whether a screen has all its answers; one without fields has nothing to answer."""
        return is_complete(self.fields(position), self._values[position])

    def done(self) -> list[bool]:
        """Return for each screen whether it is done."""
        return [self.is_done(position) for position in range(1, len(self.screens) + 1)]

    def next_open(self, after: int = 0) -> int | None:
        """Return the first position behind `after` that is not done, or before it, or None."""
        open_ = [position for position, done in enumerate(self.done(), 1) if not done]
        return next((p for p in open_ if p > after), open_[0] if open_ else None)

    def view(self, position: int) -> ScreenView:
        """Return what a screen shows."""
        screen = self.screens[position - 1]
        example = self._examples[screen.example]
        protocol = self.study.protocol
        return ScreenView(
            example.title or "(no title)",
            _texts(screen, example, protocol.shows_lead),
            example.paragraphs if protocol.shows_sources else (),
            self.fields(position),
            dict(self._values[position]),
        )


def _texts(screen: Screen, example: Example, shows_lead: bool) -> list[Text]:
    if screen.question is not None:
        question = example.questions[screen.question]
        return [
            Text("Question", question.text, True),
            Text("Correct answer", question.answer, True),
        ]
    lead = [Text("Reference text", example.lead, True)] if shows_lead else []
    shown = [example.summaries[system] for system in screen.systems]
    labels = ["Summary"] if len(shown) == 1 else list(map(summary_label, range(len(shown))))
    return [*lead, *map(Text, labels, shown)]


def _given_answers(study: Study, examples: Sequence[Example]) -> dict[tuple[int, int], set[str]]:
    """Return the different answers of all judges to each question: (example, question) -> texts."""
    found: defaultdict[tuple[int, int], set[str]] = defaultdict(set)
    screens = {j.number: study.store.screens(j.number)
               for j in study.store.judges() if j.role == JUDGE}  # fmt: skip
    names = [question_field(n) for n in range(max(len(e.questions) for e in examples))]
    for answer in study.store.answers():
        if answer.judge in screens and answer.field in names:
            screen = screens[answer.judge][answer.position - 1]
            found[screen.example, names.index(answer.field)].add(answer.value)
    return found
