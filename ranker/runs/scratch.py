"""Temporary folders for copies of training runs that do not outlive their process for long.

A folder holds a file that its process has locked. The next process that asks for a folder deletes
those whose lock is free: their processes were killed. A folder that is marked as unstored holds
the only copy of something, and stays until a person deletes it.
"""

import contextlib
import fcntl
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_PREFIX = "wikisum-run-"
_LOCK, _UNSTORED = ".lock", ".unstored"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a new folder, which is deleted afterwards unless it is marked as unstored then."""
    _delete_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    new = folder / f"{_LOCK}.new"
    with new.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        new.rename(folder / _LOCK)  # only now, so that no lock is ever seen free too early
        try:
            yield folder
        finally:
            if not (folder / _UNSTORED).exists():
                _delete(folder)


def mark_unstored(folder: Path, url: str) -> None:
    """Keep a folder whose changes could not be stored at `url`."""
    (folder / _UNSTORED).write_text(url)


def mark_stored(folder: Path) -> None:
    """Let a folder be deleted again."""
    (folder / _UNSTORED).unlink(missing_ok=True)


def _delete_abandoned() -> None:
    """Delete the folders of processes that have ended; name those that are marked as unstored."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # one of another user cannot be opened, and one that ends now is gone
        with contextlib.suppress(OSError), (folder / _LOCK).open() as file:
            if not _is_free(file):
                continue
            if (folder / _UNSTORED).exists():
                url = (folder / _UNSTORED).read_text()
                sys.stderr.write(f"{folder} has changes of {url} that were not stored\n")
            else:
                _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a folder, its lock last: without it, a later process would not delete the rest."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _LOCK:
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _is_free(file: IO[str]) -> bool:
    """Whether no process holds the lock of a file; this one then does until it closes the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
