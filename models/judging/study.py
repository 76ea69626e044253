"""A study: a folder with `study.json` (the settings) and `study.sqlite` (texts and answers)."""

import json
from dataclasses import dataclass
from pathlib import Path

from wikisum.models.judging.protocols import Protocol
from wikisum.models.judging.store import JUDGE, Store
from wikisum.ranker.setting import Checked, setting

SETTINGS, DATABASE = "study.json", "study.sqlite"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class StudySettings(Checked):
    """Sizes and options of a study. None stands for the protocol's own value.

    `with_gold` adds the gold lead as a system, `ties` the answer "no preference", `comments` a
    field for a remark on every screen. `markers` mark the answers of the protocol `questions`.
    """

    examples: int | None = setting(
        None, "examples to sample", at_least=1, default_text="those of the paper, 20 or 25"
    )
    judges: int = setting(3, "number of judges", at_least=1)
    judges_per_item: int | None = setting(
        None,
        "judges who see the same summaries",
        at_least=1,
        default_text="those of the paper, 3 or 5, or as many as there are",
    )
    systems_per_screen: int | None = setting(
        None, "summaries shown at once in best-worst", at_least=1, default_text="3"
    )
    markers: int = setting(1, "persons who mark the answers to questions", at_least=1)
    seed: int = setting(0, "seed of sampling and assignment")
    with_gold: bool = setting(False, "judge the gold lead as a system too", flag="gold")
    ties: bool = setting(False, "allow the answer 'no preference' in preference")
    comments: bool = setting(False, "add a field for a comment to each screen")


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
    except (ValueError, KeyError, TypeError, RecursionError) as error:
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
