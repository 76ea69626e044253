"""What a training run tells: `log.jsonl`, a row an evaluation, and the same to TensorBoard."""

import json
import os
from pathlib import Path
from typing import Any, Self

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs.atomic import atomic_write
from wikisum.ranker.runs.files import LOG


def read_log(run: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's log; no rows if there is no log.

    A last line that was cut off is left out. Raises BadFile naming the file and the line if another
    line is not a row with a `step`.
    """
    path = run / LOG
    if not path.is_file():
        return []
    with path.open("rb") as file:
        return [
            _row(line, f"{path}, line {number}")
            for number, line in enumerate(file, 1)
            if line.endswith(b"\n")
        ]


def _row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict) or type(row.get("step")) is not int:
        raise BadFile(f"{place}: not an object with a whole number as its step")
    return row


class TrainingLog:
    """Adds rows with a `step` to a run's log; rows after the step it goes on from are cut off."""

    def __init__(self, run: Path, step: int) -> None:
        kept = [row for row in read_log(run) if row["step"] <= step]
        atomic_write(run / LOG, lambda file: file.writelines(map(_line, kept)))
        self._file = (run / LOG).open("ab")
        self._board = _board(run, step)

    def write(self, row: dict[str, Any]) -> None:
        """Write a row, on disk before this returns."""
        self._file.write(_line(row))
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._board is not None:
            for name, value in row.items():
                if name != "step":
                    self._board.add_scalar(name, value, row["step"])
            self._board.flush()

    def write_text(self, tag: str, text: str, step: int) -> None:
        """Show a text in Markdown in TensorBoard; log.jsonl has numbers alone."""
        if self._board is not None:
            self._board.add_text(tag, text, step)
            self._board.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _board(run: Path, step: int) -> Any:
    """TensorBoard's writer of what comes after a step; None where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError:
        return None
    return SummaryWriter(str(run), purge_step=step + 1)  # type: ignore[no-untyped-call]


def _line(row: dict[str, Any]) -> bytes:
    return json.dumps(row).encode() + b"\n"
