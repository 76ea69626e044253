"""Results of a previous run of a stage that a retry may reuse, so that only failures are redone.

A retry (`--retry timeout,http_503`) asks again for what failed for some reasons. The parts that
have such failures are opened again. Their files move to a folder of the work folder, from which
the stage copies everything but these failures.
"""

import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import msgspec

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.stage import StageRun
from wikisum.pipeline.engine.workspace import Workspace

FOLDER = "previous"
_NOTE = "note.json"


class _Note(msgspec.Struct):
    """What is kept in the folder: the results under these settings, but for these reasons."""

    settings: dict[str, Any]
    reasons: list[str]


@dataclass(frozen=True)
class PreviousRun:
    """Where the files of the previous run are; failures for `reasons` in them are to be redone."""

    folder: str
    reasons: frozenset[str]

    def path(self, relative: str) -> str | None:
        """Where the file that was at `relative` is now, or None if there was none."""
        path = files.join(self.folder, relative)
        return path if files.exists(path) else None


def keep_previous(
    workspace: Workspace,
    run: StageRun,
    reasons: Collection[str],
    counted_as: str = "dropped_",
    of_other_inputs: bool = False,
) -> PreviousRun | None:
    """Open the parts of a stage again that have failures for `reasons`, and keep their files.

    Failures are counted under `counted_as` and their reason. With `of_other_inputs`, everything
    that the stage made of other inputs under the same settings is kept too, since each single
    result is still valid. What a killed run had kept is used again. Returns None if there is
    nothing to reuse.
    """
    stage, fingerprint, settings = run.stage.name, run.fingerprint, run.recorded["settings"]
    folder = workspace.work(FOLDER, stage)
    before = _read_note(files.join(folder, _NOTE), settings)
    if before is None:
        forget_previous(workspace, run)
    redone = frozenset(reasons) | (before or frozenset())
    moved: list[str] = []
    old = workspace.finished(stage)
    if old is not None and of_other_inputs and old.fingerprint != fingerprint:
        moved = [f.path for f in old.files] if _equal(old.extra["settings"], settings) else []
    parts = workspace.parts(stage, fingerprint)
    opened = []
    for index, done in parts.load(run.part_count).items() if reasons else ():
        if any(done.counts.get(counted_as + reason) for reason in reasons):
            opened.append(index)
            moved += [f.path for f in done.files]
    if not moved:
        return None if before is None else PreviousRun(folder, redone)
    # The note comes first: a run that is killed from here on finds what has been moved already.
    note = {"settings": settings, "reasons": sorted(redone)}
    files.write_bytes(files.join(folder, _NOTE), json.dumps(note).encode())
    files.delete(workspace.work(f"{stage}.json"))
    for path in moved:
        files.move(workspace.path(path), files.join(folder, path))
    parts.forget(opened)
    return PreviousRun(folder, redone)


def forget_previous(workspace: Workspace, run: StageRun) -> None:
    """Delete what was kept of the previous run, once the stage has finished."""
    folder = workspace.work(FOLDER, run.stage.name)
    if files.exists(folder):
        files.delete_folder(folder)


def _read_note(path: str, settings: dict[str, Any]) -> frozenset[str] | None:
    """The reasons to redo, or None if nothing of a run with these settings is kept."""
    if not files.exists(path):
        return None
    data = files.read_bytes(path)
    try:
        note = msgspec.json.decode(data, type=_Note)
    except (msgspec.DecodeError, RecursionError):  # a kill cannot spoil it, but a disk can
        sys.stderr.write(f"{path} is unreadable; what it kept is requested again\n")
        return None
    return frozenset(note.reasons) if _equal(note.settings, settings) else None


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether settings are equal, one of which may have been read back from JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
