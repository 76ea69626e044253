"""A study: a folder with `study.json` (the settings) and `study.sqlite` (texts and answers)."""

import json
from dataclasses import dataclass
from pathlib import Path

from wikisum.models.judging.protocols import Protocol
from wikisum.models.judging.store import JUDGE, Store

SETTINGS, DATABASE = "study.json", "study.sqlite"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class StudySettings:
    """Sizes and options of a study. None stands for the protocol's own value.

    `with_gold` adds the gold lead as a system, `ties` the answer "no preference", `comments` a
    field for a remark on every screen. `markers` mark the answers of the protocol `questions`.
    """

    examples: int | None = None
    judges: int = 3
    judges_per_item: int | None = None
    systems_per_screen: int | None = None
    markers: int = 1
    seed: int = 0
    with_gold: bool = False
    ties: bool = False
    comments: bool = False


@dataclass(frozen=True)
class Study:
    """A study in a folder. `systems` are the names behind the numbers in the database."""

    folder: Path
    protocol: Protocol
    systems: tuple[str, ...]
    settings: StudySettings
    store: Store


def open_study(folder: Path) -> Study:
    """Return the study in a folder.

    Raises FileNotFoundError if there is none, ValueError for settings of another version.
    """
    path = folder / SETTINGS
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no study: there is no {SETTINGS}")
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        if plain["format"] != FORMAT_VERSION:
            raise ValueError(f"format {plain['format']!r} is not {FORMAT_VERSION}")
        protocol = Protocol.from_plain(plain["protocol"])
        settings = StudySettings(**plain["settings"])
        return Study(folder, protocol, tuple(plain["systems"]), settings, Store(folder / DATABASE))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: is not the settings of a study: {error}") from error


def summary(study: Study) -> list[str]:
    """Return lines that say what a study consists of."""
    judges = [j for j in study.store.judges() if j.role == JUDGE]
    sizes = [len(study.store.screens(j.number)) for j in judges]
    examples = study.store.examples()
    lines = [
        f"{study.protocol.title}: {len(examples)} examples, systems {', '.join(study.systems)}",
        f"{len(judges)} judges, {min(sizes)} to {max(sizes)} screens each",
    ]
    if study.protocol.shows_sources and not any(e.paragraphs for e in examples):
        lines.append("The files have no paragraphs: judges cannot see the sources.")
    return lines


def links(study: Study, address: str) -> list[str]:
    """Return a line for each judge and marker with the link, under a web address."""
    return [f"{j.role} {j.number}: {address.rstrip('/')}/{j.token}/" for j in study.store.judges()]
