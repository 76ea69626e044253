"""Preparation of a study: sample examples, assign them to judges, write the folder."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wikisum.models.evaluation.systems import System
from wikisum.models.judging import store
from wikisum.models.judging.assignment import Design, Screen, assign
from wikisum.models.judging.material import read_examples, sample_ids
from wikisum.models.judging.protocols import Protocol
from wikisum.models.judging.questions import Question
from wikisum.models.judging.store import JUDGE, MARKER, Example, Judge, Store
from wikisum.models.judging.study import DATABASE, FORMAT_VERSION, SETTINGS, Study, StudySettings
from wikisum.ranker.runs.atomic import new_folder, write_json

GOLD = "gold"  # the name of the lead as a system
_TOKEN_BYTES = 32
_SHOWN = {"rating": 1, "questions": 1, "preference": 2, "best-worst": 3}


def prepare(
    out: Path,
    protocol: Protocol,
    systems: Sequence[System],
    settings: StudySettings,
    questions: dict[str, list[Question]] | None = None,
) -> Study:
    """Sample examples, assign judges, and write a study into the new folder `out`.

    The folder appears when it is complete. The same arguments give the same study but for the
    tokens of its links. Raises FileExistsError if `out` exists, ValueError for sizes that do not
    fit, BadSummaries for unreadable files.
    """
    if out.exists():
        raise FileExistsError(f"{out} exists already; a study needs a new folder")
    if protocol.kind == "questions" and questions is None:
        raise ValueError("the protocol questions needs --questions FILE")
    if questions is not None and protocol.kind != "questions":
        raise ValueError(f"--questions does not belong to the protocol {protocol.name}")
    names = [system.name for system in systems] + [GOLD] * settings.with_gold
    _design(protocol, settings, len(names), 1)  # a fault is reported before files are read
    ids = sample_ids(systems, settings.examples or protocol.examples, settings.seed, questions)
    examples = read_examples(systems, ids, settings.with_gold, questions)
    screens = assign(_design(protocol, settings, len(names), len(ids)), settings.seed)
    study = Study(out, protocol, tuple(names), settings, Store(out / DATABASE))
    _write(study, examples, screens)
    return study


def _design(protocol: Protocol, settings: StudySettings, systems: int, examples: int) -> Design:
    kind = protocol.kind
    shown = min(_SHOWN[kind], systems) if kind == "best-worst" else _SHOWN[kind]
    if settings.systems_per_screen is not None:
        if kind != "best-worst":
            raise ValueError("--systems-per-screen belongs to the protocol best-worst")
        shown = settings.systems_per_screen
    if kind == "best-worst" and shown < 3:
        raise ValueError("best-worst needs at least 3 systems; use preference for 2")
    once = kind == "questions"
    fitting = settings.judges // systems if once else settings.judges
    per_item = settings.judges_per_item or max(1, min(protocol.judges_per_item, fitting))
    return Design(examples, systems, settings.judges, per_item, shown, once)


def _write(study: Study, examples: Sequence[Example], screens: Sequence[Sequence[Screen]]) -> None:
    by_judge = dict(enumerate(screens, 1))
    judges = [Judge(n, secrets.token_urlsafe(_TOKEN_BYTES), JUDGE) for n in by_judge]
    if study.protocol.kind == "questions":
        marking = [
            Screen(n, question=q)
            for n, example in enumerate(examples)
            for q in range(len(example.questions))
        ]
        for number in range(len(judges) + 1, len(judges) + 1 + study.settings.markers):
            judges.append(Judge(number, secrets.token_urlsafe(_TOKEN_BYTES), MARKER))
            by_judge[number] = marking
    # the database holds the tokens of all links
    with new_folder(study.folder, mode=0o700) as folder:
        store.create(folder / DATABASE, judges, examples, by_judge)
        write_json(folder / SETTINGS, _plain(study))


def _plain(study: Study) -> dict[str, Any]:
    return {
        "format": FORMAT_VERSION,
        "protocol": asdict(study.protocol),
        "systems": study.systems,
        "settings": asdict(study.settings),
    }
