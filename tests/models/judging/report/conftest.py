import pytest

from wikisum.models.judging.fields import mark_field
from wikisum.models.judging.store import MARKER
from wikisum.models.judging.web.screens import Progress


@pytest.fixture
def answer():
    """Answer the screens of judges: value(judge, screen, field) -> an answer, None for none."""

    def fill(study, value):
        examples = study.store.examples()
        for judge in study.store.judges():
            if judge.role == MARKER:
                continue
            progress = Progress(study, examples, judge)
            for position, screen in enumerate(progress.screens, 1):
                given = {
                    field.name: value(judge.number, screen, field.name)
                    for field in progress.fields(position)
                }
                given = {name: str(v) for name, v in given.items() if v is not None}
                study.store.save(judge.number, position, given)

    return fill


@pytest.fixture
def mark():
    """Mark answers: value(answer) -> its mark."""

    def fill(study, answers, value):
        for judge in study.store.judges():
            if judge.role == MARKER:
                for position in range(1, len(study.store.screens(judge.number)) + 1):
                    marks = {mark_field(a): str(value(judge.number, a)) for a in answers}
                    study.store.save(judge.number, position, marks)

    return fill
