"""Training runs in an object store: read from a copy here, written from a working folder here.

A file of the store is replaced by one upload, which makes it visible when it is complete. Knows no
torch; pyarrow has the clients (`s3://`, `gs://`).
"""

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pyarrow as pa
from pyarrow import fs

from wikisum.ranker.data.paths import is_remote
from wikisum.ranker.data.shards import open_folder
from wikisum.ranker.runs.files import LAST, LOG
from wikisum.ranker.runs.scratch import mark_stored, mark_unstored, scratch_folder

_FileState = tuple[int, int]  # time of change and size


class StoredRun:
    """A run in a store, and the local folder that it is worked on in."""

    def __init__(self, url: str, folder: Path) -> None:
        """Raises ValueError for a scheme that pyarrow has no filesystem for."""
        self.url, self.folder = url, folder
        self._filesystem, self._root = open_folder(url)
        self._stored: dict[str, _FileState] = {}  # by name: the local files as they were stored

    def download(self) -> None:
        """Copy all files of the run to the local folder."""
        selector = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        for info in self._filesystem.get_file_info(selector):
            name = info.path.removeprefix(f"{self._root}/")
            if info.is_file and not name.startswith("."):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with self._filesystem.open_input_stream(info.path) as source, path.open("wb") as to:
                    shutil.copyfileobj(source, to, 1 << 20)
                self._stored[name] = _state(path)

    def upload(self) -> None:
        """Store the files that have changed, then delete those that are gone.

        The log comes before the checkpoint to resume from, which comes last: a run that is killed
        in between resumes as one whose machine was killed there. Raises OSError. After an error or
        an interruption the folder stays until a later call succeeds.
        """
        try:
            self._upload()
        except BaseException:
            mark_unstored(self.folder, self.url)
            raise
        mark_stored(self.folder)

    def _upload(self) -> None:
        found = {
            str(path.relative_to(self.folder)): path
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")  # of `atomic_write`
        }
        for name, path in sorted(found.items(), key=lambda item: (*_place(item[0]), item[0])):
            state = _state(path)
            if self._stored.get(name) != state:
                self._put(name, path)
                self._stored[name] = state
        for name in self._stored.keys() - found.keys():
            self._filesystem.delete_file(f"{self._root}/{name}")
            del self._stored[name]

    def save(self, to: TextIO = sys.stderr) -> None:
        """Upload; if the store does not answer, say so: the next call stores what is missing."""
        try:
            self.upload()
        except OSError as error:
            to.write(f"{self.url} was not updated, next attempt at the next checkpoint: {error}\n")

    def finish(self, cause: BaseException | None = None) -> None:
        """Upload at the end of the run, which an error may have ended.

        Raises OSError with that error and the folder that holds the run.
        """
        try:
            self.upload()
        except OSError as error:
            ended_by = f"{cause}; " if cause is not None and str(cause) else ""
            raise OSError(
                f"{ended_by}{self.url} was not updated: {error}; the run is in {self.folder}"
            ) from error

    def _put(self, name: str, path: Path) -> None:
        """Store a file by one write, so that an upload that fails is never completed in part."""
        with (
            pa.memory_map(str(path)) as source,
            self._filesystem.open_output_stream(f"{self._root}/{name}") as stream,
        ):
            stream.write(source.read_buffer())


def _place(name: str) -> tuple[bool, bool]:
    return name == LAST, name == LOG


def _state(path: Path) -> _FileState:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


@contextlib.contextmanager
def local_copy(run: str | Path) -> Iterator[Path]:
    """Yield the folder of a run, or of a remote one a copy that is deleted afterwards."""
    if not is_remote(run):
        yield Path(run)
        return
    with scratch_folder() as folder, renamed(str(run), str(folder)):
        StoredRun(str(run), folder).download()
        yield folder


@contextlib.contextmanager
def working_folder(url: str) -> Iterator[StoredRun]:
    """Yield a run, if there is one, in a temporary folder; store what has changed at the end.

    An error in the block does not prevent that. Raises OSError if the run cannot be stored; the
    folder then stays, and the error names it.
    """
    with scratch_folder() as folder:
        run = StoredRun(url, folder)
        run.download()
        try:
            with renamed(url, str(folder)):
                yield run
        except BaseException as error:
            run.finish(error)
            raise
        run.finish()


@contextlib.contextmanager
def renamed(url: str, folder: str) -> Iterator[None]:
    """Name a remote run instead of its local folder in errors about wrong calls and files."""
    try:
        yield
    except (ValueError, FileNotFoundError) as error:
        if folder not in str(error):
            raise
        raise type(error)(str(error).replace(folder, url)) from error
