"""Files that are seen whole or not at all."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, then put it there; an older one stays whole until then."""
    beside = path.with_name(f".{path.name}.tmp")
    try:
        with beside.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON."""
    text = json.dumps(value, indent=2) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))
