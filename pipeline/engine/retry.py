"""What an earlier run of a stage made, set aside so that only what failed there is done again."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.workspace import Workspace

FOLDER = "aside"
_NOTE = "note.json"


@dataclass(frozen=True)
class Aside:
    """Where the earlier files lie, by the paths they had; what failed for `reasons` is void."""

    folder: str
    reasons: frozenset[str]

    def path(self, relative: str) -> str | None:
        """Where a file that was at `relative` is now, or None if there was none."""
        path = files.join(self.folder, relative)
        return path if files.exists(path) else None


def set_aside(
    workspace: Workspace,
    stage: str,
    key: str,
    part_count: int,
    settings: dict[str, Any],
    reasons: Collection[str],
    counted: str = "dropped_",
    of_other_inputs: bool = False,
) -> Aside | None:
    """Open those parts of a stage again that lost something for one of the reasons.

    `key` is its fingerprint, `counted` what the counts of such losses begin with. With
    `of_other_inputs` all that it made of other inputs by the same settings is set aside too, for
    its single outcomes hold. What a killed run had set aside is taken up again. Gives back None if
    there is nothing of an earlier run.
    """
    folder = workspace.work(FOLDER, stage)
    before = _read_note(files.join(folder, _NOTE), settings)
    if before is None:
        clear_aside(workspace, stage)
    void = frozenset(reasons) | (before or frozenset())
    moved: list[str] = []
    old = workspace.finished(stage)
    if old is not None and of_other_inputs and old.fingerprint != key:
        moved = [f.path for f in old.files] if _same(old.extra["settings"], settings) else []
    parts = workspace.parts(stage, key)
    again = []
    for index, done in parts.load(part_count).items() if reasons else ():
        if any(done.counts.get(counted + reason) for reason in reasons):
            again.append(index)
            moved += [f.path for f in done.files]
    if not moved:
        return None if before is None else Aside(folder, void)
    note = {"settings": settings, "reasons": sorted(void)}
    files.write_bytes(files.join(folder, _NOTE), json.dumps(note).encode())
    files.delete(workspace.work(f"{stage}.json"))
    for path in moved:
        files.move(workspace.path(path), files.join(folder, path))
    for index in again:
        parts.forget(index)
    return Aside(folder, void)


def clear_aside(workspace: Workspace, stage: str) -> None:
    """Delete what was set aside; the stage is done."""
    folder = workspace.work(FOLDER, stage)
    if files.exists(folder):
        files.delete_folder(folder)


def _read_note(path: str, settings: dict[str, Any]) -> frozenset[str] | None:
    """The reasons of what lies aside, or None if nothing does that these settings made."""
    if not files.exists(path):
        return None
    with files.open_input(path) as raw:
        note = json.load(raw)
    return frozenset(note["reasons"]) if _same(note["settings"], settings) else None


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether settings agree, of which one may have been read back from JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
