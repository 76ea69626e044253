"""The SQLite database of a study: examples, screens, and the answers that judges give.

Every operation opens its own connection, so that threads and processes can use one database at the
same time. In WAL mode readers never wait, and writers wait for each other. An answer is on the disk
when `save` returns.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from wikisum.models.judging.assignment import Screen
from wikisum.models.judging.questions import Question

_WAIT_SECONDS = 30.0
_SCHEMA = """
CREATE TABLE judge (number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, role TEXT NOT NULL);
CREATE TABLE example (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL,
    lead TEXT NOT NULL, paragraphs TEXT NOT NULL, summaries TEXT NOT NULL, questions TEXT NOT NULL);
CREATE TABLE screen (judge INTEGER NOT NULL, position INTEGER NOT NULL, example INTEGER NOT NULL,
    systems TEXT NOT NULL, question INTEGER, PRIMARY KEY (judge, position));
CREATE TABLE answer (judge INTEGER NOT NULL, position INTEGER NOT NULL, field TEXT NOT NULL,
    value TEXT NOT NULL, saved_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (judge, position, field));
"""
_SAVE = """
INSERT INTO answer (judge, position, field, value) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value, saved_at = CURRENT_TIMESTAMP
"""
JUDGE, MARKER = "judge", "marker"


class Example(NamedTuple):
    """An example with the summaries of all systems, in their order; all texts are clean."""

    id: str
    title: str
    lead: str
    paragraphs: tuple[str, ...]
    summaries: tuple[str, ...]
    questions: tuple[Question, ...] = ()


class Judge(NamedTuple):
    """A person with a link. `role` is "judge", or "marker" for one who marks answers."""

    number: int
    token: str
    role: str


class Answer(NamedTuple):
    """An answer to one field of a screen; `position` counts a judge's screens from 1."""

    judge: int
    position: int
    field: str
    value: str


@dataclass(frozen=True)
class Store:
    """Reads and writes the database at `path`, which `create` has made."""

    path: Path

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if not self.path.is_file():  # sqlite3 would create it
            raise FileNotFoundError(f"there is no file {self.path}")
        with closing(sqlite3.connect(self.path, timeout=_WAIT_SECONDS)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            with connection:
                yield connection

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._connection() as db:
            return db.execute(query, values).fetchall()

    def judges(self) -> list[Judge]:
        """Return all judges and markers."""
        return [Judge(*row) for row in self._rows("SELECT * FROM judge ORDER BY number")]

    def judge(self, token: str) -> Judge | None:
        """Return who has a link with this token."""
        rows = self._rows("SELECT * FROM judge WHERE token = ?", token)
        return Judge(*rows[0]) if rows else None

    def screens(self, judge: int) -> list[Screen]:
        """Return the screens of a judge in their order."""
        query = "SELECT example, systems, question FROM screen WHERE judge = ? ORDER BY position"
        rows = self._rows(query, judge)
        return [Screen(example, tuple(json.loads(shown)), q) for example, shown, q in rows]

    def examples(self) -> list[Example]:
        """Return all examples in their order."""
        return list(map(_example, self._rows("SELECT * FROM example ORDER BY number")))

    def answers(self, judge: int | None = None) -> list[Answer]:
        """Return the answers of a judge, or of all."""
        query = "SELECT judge, position, field, value FROM answer WHERE judge = coalesce(?, judge)"
        return [Answer(*r) for r in self._rows(f"{query} ORDER BY judge, position, field", judge)]

    def values(self, judge: int) -> defaultdict[int, dict[str, str]]:
        """Return the answers of a judge by position and field."""
        found: defaultdict[int, dict[str, str]] = defaultdict(dict)
        for answer in self.answers(judge):
            found[answer.position][answer.field] = answer.value
        return found

    def save(self, judge: int, position: int, values: Mapping[str, str]) -> None:
        """Save answers to fields of a screen over older ones, all or none."""
        with self._connection() as db:
            db.executemany(_SAVE, [(judge, position, f, v) for f, v in values.items()])

    def delete(self, judge: int, position: int, field: str) -> None:
        """Delete the answer to a field, if there is one."""
        query = "DELETE FROM answer WHERE judge = ? AND position = ? AND field = ?"
        with self._connection() as db:
            db.execute(query, (judge, position, field))


def create(
    path: Path,
    judges: Iterable[Judge],
    examples: Iterable[Example],
    screens: Mapping[int, Sequence[Screen]],
) -> None:
    """Make the database of a study; `screens` are those of each judge by number."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_SCHEMA)
        with db:
            db.executemany("INSERT INTO judge VALUES (?, ?, ?)", judges)
            db.executemany(
                "INSERT INTO example VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (n, e.id, e.title, e.lead, *map(json.dumps, e[3:]))
                    for n, e in enumerate(examples)
                ],
            )
            db.executemany(
                "INSERT INTO screen VALUES (?, ?, ?, ?, ?)",
                [
                    (judge, position, s.example, json.dumps(s.systems), s.question)
                    for judge, mine in screens.items()
                    for position, s in enumerate(mine, 1)
                ],
            )


def _example(row: Sequence[str]) -> Example:
    _, id_, title, lead, *lists = row
    paragraphs, summaries, questions = map(json.loads, lists)
    asked = tuple(Question(*q) for q in questions)
    return Example(id_, title, lead, tuple(paragraphs), tuple(summaries), asked)
