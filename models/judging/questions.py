"""Questions with gold answers about the leads of examples, written by the user."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from wikisum.models.decoding.summary_files import read_rows
from wikisum.models.judging.text import clean

_KEYS = ("id", "question", "answer")


class Question(NamedTuple):
    """A question about an example, and its gold answer."""

    text: str
    answer: str


def read_questions(path: Path) -> dict[str, list[Question]]:
    """Return the questions of each example by its id, in the order of the file.

    The file is JSON Lines with `id`, `question` and `answer` in each line, or TOML (`.toml`) with
    a table `[[question]]` of the same keys for each. Raises ValueError that names the file and
    the line or table.
    """
    rows = _toml_rows(path) if path.suffix == ".toml" else read_rows(path)
    found: dict[str, list[Question]] = {}
    for where, row in rows:
        id_, question, answer = _texts(path, where, row)
        found.setdefault(id_, []).append(Question(clean(question), clean(answer)))
    if not found:
        raise ValueError(f"{path} has no questions")
    return found


def _texts(path: Path, where: str, row: Any) -> list[str]:
    values = [row.get(key) if isinstance(row, dict) else None for key in _KEYS]
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if len(texts) < len(_KEYS):
        raise ValueError(f"{path}: {where}: needs id, question and answer, each a text")
    return texts


def _toml_rows(path: Path) -> Iterable[tuple[str, Any]]:
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("question", [])
    except ValueError as error:
        raise ValueError(f"{path}: is not TOML: {error}") from error
    return [(f"question {n}", row) for n, row in enumerate(rows, 1)]
