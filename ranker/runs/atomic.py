"""Files that appear under their final name only when they are complete."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from wikisum.ranker.data.errors import BadFile


def atomic_write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file beside `path`, then rename it; an older file stays until then."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path, mode: int = 0o777) -> Iterator[Path]:
    """Give a hidden folder to fill, which becomes `path` at the end; on an error nothing is left.

    Raises FileExistsError if `path` exists.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists: name a new folder")
    hidden = path.with_name(f".{path.name}.tmp")
    shutil.rmtree(hidden, ignore_errors=True)  # of a run that was killed
    hidden.mkdir(mode, parents=True)
    try:
        yield hidden
        hidden.rename(path)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8."""
    atomic_write(path, lambda file: file.write(text.encode()))


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises BadFile naming the file if it holds none."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadFile(f"{path} must hold a JSON object")
    return found


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON."""
    write_text(path, json.dumps(value, indent=2) + "\n")
