"""Files here, on object stores and on any filesystem that Beam can open.

Nothing half-written has a final name: local files and those of Beam's filesystems are written under
a temporary name and renamed, objects are written whole (`pipeline/store/objects.py`).
"""

import contextlib
import errno
import fcntl
import glob
import hashlib
import io
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from os.path import isfile
from typing import Any, BinaryIO, NamedTuple, Self

from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions

from wikisum.pipeline.store import objects
from wikisum.ranker.data.paths import is_remote as is_remote

TEMPORARY = ".tmp"
_SPOOL_BYTES = 16 << 20  # of an object being written that are held in memory
_EXTRAS = {"gs": "gcp", "s3": "aws"}  # of our package, by the paths that they open


class InputFile(NamedTuple):
    """A file to read: `name` is its path relative to the folder that all inputs share."""

    name: str
    path: str
    size_bytes: int
    modified: float


def identity(inputs: list[InputFile]) -> list[list[Any]]:
    """Name, size and time of change of each file, for a stage's fingerprint."""
    return [[f.name, f.size_bytes, f.modified] for f in inputs]


def described(inputs: list[InputFile]) -> list[dict[str, Any]]:
    """The files as the manifest names them; their paths hold wherever it is read from."""
    return [{"name": f.name, "path": whole_path(f.path), "bytes": f.size_bytes} for f in inputs]


def whole_path(path: str) -> str:
    """The path from the root on; a remote one as it is."""
    return path if is_remote(path) else os.path.abspath(path)


def set_beam_flags(flags: Sequence[str]) -> None:
    """Open remote paths as these flags for Beam say; without a call there is no client for S3."""
    FileSystems.set_options(PipelineOptions(list(flags)))


def check_path(path: str) -> None:
    """Raise ValueError for a remote path that nothing installed can open."""
    if not is_remote(path):
        return
    scheme = path.partition("://")[0]
    if objects.is_object(path):
        is_known = scheme != "s3" or find_spec("boto3") is not None
    else:
        try:
            is_known = FileSystems.get_filesystem(path) is not None
        except ValueError:
            is_known = False
    if not is_known:
        needs = f": pip install 'wikisum[{_EXTRAS[scheme]}]'" if scheme in _EXTRAS else ""
        raise ValueError(f"{path}: no installed package opens {scheme}:// paths{needs}")


def listed(folder: str) -> AbstractContextManager[None]:
    """List a folder of an object store once for what this process asks about it in the block."""
    return objects.listed(folder)


def unlisted(folder: str) -> AbstractContextManager[None]:
    """Ask the store itself in the block, in which others write, and list the folder again after."""
    return objects.unlisted(folder)


def join(*parts: str) -> str:
    """One path out of its parts, local or remote."""
    return os.path.join(*parts)


def open_input(path: str) -> BinaryIO:
    """The raw bytes of a file, never decompressed on the way."""
    if objects.is_object(path):
        return objects.open_object(path)
    if is_remote(path):
        return FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return open(path, "rb")


def read_bytes(path: str) -> bytes:
    """The whole content of a small file."""
    with open_input(path) as file:
        return file.read()


def unbuffered(file: BinaryIO) -> BinaryIO:
    """The raw stream below the read-ahead buffer, for small random reads.

    The buffer of an object store's stream would read 16 MB ahead of each.
    """
    below: BinaryIO = getattr(file, "raw", file)
    return file if isinstance(below, io.FileIO) else below


def read_range(path: str, offset: int, length: int) -> bytes:
    """Bytes [offset, offset + length) of a file; fewer only where it ends."""
    if objects.is_object(path):
        return objects.read_range(path, offset, length)
    with open_input(path) as file:
        stream = unbuffered(file)
        stream.seek(offset)
        data = bytearray()
        while len(data) < length and (more := stream.read(length - len(data))):
            data += more
    return bytes(data)


def exists(path: str) -> bool:
    """Whether the file or folder exists; an object store has no folders."""
    if objects.is_object(path):
        return objects.info(path) is not None
    return bool(FileSystems.exists(path)) if is_remote(path) else os.path.exists(path)


def make_folder(path: str) -> None:
    """Create the folder and its parents; object stores have no folders to create."""
    if not is_remote(path):
        os.makedirs(path, exist_ok=True)


def delete(path: str) -> None:
    """Delete a file if it exists."""
    if objects.is_object(path):
        objects.delete([path])
        return
    if is_remote(path):
        if FileSystems.exists(path):
            FileSystems.delete([path])
    else:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)


def delete_folder(folder: str) -> None:
    """Delete a folder and everything in it, if it exists."""
    if objects.is_object(folder):
        objects.delete([found.path for found in objects.in_tree(folder)])
    elif is_remote(folder):
        paths = [match.path for match in _match(join(folder, "**"))]
        if paths:
            FileSystems.delete(paths)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def sync_folder(folder: str) -> None:
    """Wait until new, renamed and deleted names in a local folder would survive a power cut."""
    folder = folder or "."
    if is_remote(folder) or not os.path.isdir(folder):
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network filesystems refuse
            raise
    finally:
        os.close(opened)


def move(path: str, target: str) -> None:
    """Move a file, creating the target's folder; do nothing if the file does not exist."""
    if objects.is_object(path):
        with contextlib.suppress(FileNotFoundError):
            objects.rename(path, target)
        return
    if not exists(path):
        return
    make_folder(os.path.dirname(target))
    if is_remote(path):
        delete(target)
        FileSystems.rename([path], [target])
    else:
        os.replace(path, target)


def size_bytes(path: str) -> int | None:
    """The size of a file, or None if it does not exist."""
    if objects.is_object(path):
        found = objects.info(path)
        return None if found is None else found.size_bytes
    if not is_remote(path):
        return os.path.getsize(path) if os.path.isfile(path) else None
    matches = _match(path)
    return matches[0].size_in_bytes if matches else None


def sizes_bytes(paths: Iterable[str]) -> dict[str, int]:
    """The sizes of the files that exist; a remote folder is listed once for all files in it."""
    found: dict[str, int] = {}
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        by_folder.setdefault(os.path.dirname(path), []).append(path)
    for folder, in_folder in by_folder.items():
        if is_remote(folder):
            listed = {os.path.basename(m.path): m.size_in_bytes for m in _match(join(folder, "*"))}
        else:
            listed = {os.path.basename(p): os.path.getsize(p) for p in filter(isfile, in_folder)}
        for path in in_folder:
            if (name := os.path.basename(path)) in listed:
                found[path] = listed[name]
    return found


def list_folder(folder: str) -> list[str]:
    """The sorted paths of the files in a folder; none if the folder does not exist."""
    if is_remote(folder):
        return sorted(m.path for m in _match(join(folder, "*")))
    if not os.path.isdir(folder):
        return []
    return sorted(e.path for e in os.scandir(folder) if e.is_file())


def list_tree(folder: str) -> list[str]:
    """The sorted paths of the files in a folder and in all folders below it."""
    if is_remote(folder):
        return sorted(m.path for m in _match(join(folder, "**")))
    return sorted(join(parent, n) for parent, _, names in os.walk(folder) for n in names)


def folder_names(folder: str) -> list[str]:
    """The sorted names of the folders in a folder; those of a store are part of longer names."""
    if is_remote(folder):
        below = (path.removeprefix(join(folder, "")) for path in list_tree(folder))
        return sorted({name.partition("/")[0] for name in below if "/" in name})
    if not os.path.isdir(folder):
        return []
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())


def expand(patterns: list[str]) -> list[InputFile]:
    """The files that paths or globs match, sorted by name, each once.

    Raises FileNotFoundError for a pattern without a match, IsADirectoryError for a folder.
    """
    found: dict[str, tuple[int, float]] = {}
    for pattern in patterns:
        check_path(pattern)
        matches = _match(pattern) if is_remote(pattern) else _match_local(pattern)
        if not matches:
            raise FileNotFoundError(f"no such file: {pattern}")
        for match in matches:
            if not is_remote(match.path) and os.path.isdir(match.path):
                raise IsADirectoryError(f"is a directory, not a file: {match.path}")
            found[match.path] = (match.size_in_bytes, match.last_updated_in_seconds)
    whole = {path: whole_path(path) for path in found}
    root = os.path.commonpath([os.path.dirname(p) for p in whole.values()]) if found else ""
    # whole paths, since workers may run in another directory
    return sorted(InputFile(os.path.relpath(whole[p], root), whole[p], *found[p]) for p in found)


def _match(pattern: str) -> list[FileMetadata]:
    if objects.is_object(pattern):
        return [FileMetadata(*found) for found in objects.matching(pattern)]
    return list(FileSystems.match([pattern])[0].metadata_list)


def _match_local(pattern: str) -> list[FileMetadata]:
    paths = [pattern] if os.path.exists(pattern) else glob.glob(pattern, recursive=True)
    return [FileMetadata(p, os.path.getsize(p), os.path.getmtime(p)) for p in paths]


class AtomicFile:
    """A binary file that takes its final name when closed without an error; counts and hashes.

    An object is kept in memory or a local temporary file until then.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._temporary: str | None = None
        self._file: Any
        if objects.is_object(path):
            self._file = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115
        else:
            folder, name = os.path.split(path)
            make_folder(folder)
            self._temporary = join(folder, f".{name}.{uuid.uuid4().hex}{TEMPORARY}")
            self._file = _create(self._temporary)
        self._hash = hashlib.sha256()
        self.size_bytes = 0
        self.closed = False

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if self.closed:  # pyarrow's writer, collected after a failure, ends a file that is gone
            return view.nbytes
        try:
            self._file.write(view)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.path) from error
        self._hash.update(view)
        self.size_bytes += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        return self.size_bytes

    def flush(self) -> None:
        self._file.flush()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def close(self) -> None:
        """Nothing: pyarrow closes what it writes to, but only leaving the block may rename."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.closed = True
        if self._temporary is None:
            self._finish_object(is_whole=kind is None)
            return
        try:
            with contextlib.closing(self._file):
                if kind is None and not is_remote(self.path):
                    self._file.flush()
                    os.fsync(self._file.fileno())  # or a power cut could leave an empty file
        except OSError:
            delete(self._temporary)
            raise
        if kind is not None:
            delete(self._temporary)
        elif is_remote(self.path):
            delete(self.path)
            FileSystems.rename([self._temporary], [self.path])
        else:
            os.replace(self._temporary, self.path)
            sync_folder(os.path.dirname(self.path))

    def _finish_object(self, is_whole: bool) -> None:
        with self._file:
            if is_whole:
                self._file.seek(0)
                objects.put(self.path, self._file)


def _create(path: str) -> BinaryIO:
    if is_remote(path):
        return FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return open(path, "wb")


def write_bytes(path: str, data: bytes) -> None:
    """Write a small file atomically."""
    with AtomicFile(path) as file:
        file.write(data)


def delete_temporaries(folder: str) -> None:
    """Delete what a killed run left half-written in a local folder."""
    if os.path.isdir(folder):
        for parent, _, names in os.walk(folder):
            for name in names:
                if name.startswith(".") and name.endswith(TEMPORARY):
                    delete(join(parent, name))


def local_copy(path: str, key: str) -> str:
    """The path itself, or of a remote file a copy that all processes of this machine share.

    One of them makes it; `key` stands for what is in the file.
    """
    if not is_remote(path):
        return path
    local = os.path.join(tempfile.gettempdir(), f"wikisum-{key}-{os.path.basename(path)}")
    with open(f"{local}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(local):
            with open_input(path) as raw, AtomicFile(local) as copy:
                shutil.copyfileobj(raw, copy, 1 << 20)
    return local
