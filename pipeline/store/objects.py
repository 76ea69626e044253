"""Objects on S3 and Google Cloud Storage, by their URLs: `s3://bucket/key`, `gs://bucket/key`.

An object is written by one request, or by a multipart upload whose last request makes it visible:
there are no half-written objects. Each process has one client per bucket, with its connections.
Requests that fail for a transient reason (5xx, 429, lost connections) are repeated with pauses.
Missing objects raise FileNotFoundError, all other failures OSError with one line.
"""

import contextlib
import io
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError

from wikisum.pipeline.store.clients import located

SCHEMES = ("s3", "gs")
BLOCK_BYTES = 8 << 20  # of a large object, read at once
_UPLOAD_BYTES = 32 << 20  # a larger object is uploaded in parts of this size


class ObjectInfo(NamedTuple):
    """An object as a listing describes it; `modified` is in seconds since 1970."""

    path: str
    size_bytes: int
    modified: float


@dataclass
class _Listing:
    """What is known of a folder: its objects by path, or None before they are first asked for."""

    found: dict[str, ObjectInfo] | None = None
    is_used: bool = True


_listings: dict[str, _Listing] = {}  # by folder, while a block of `listed` lasts


def is_object(path: str) -> bool:
    """Whether the path is the URL of an object or of a prefix of objects."""
    return path.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def open_object(path: str) -> BinaryIO:
    """Return an object as a binary file that is read in blocks; a small one takes one request."""
    store, key = located(path)
    with _errors(path):
        try:
            answer = obstore.get(store, key, options={"range": (0, BLOCK_BYTES)})
            data, size = bytes(answer.bytes()), answer.meta["size"]
        except BaseError:
            if obstore.head(store, key)["size"]:
                raise
            return io.BytesIO()  # an empty object has no range
    if len(data) == size:
        return io.BytesIO(data)
    return io.BufferedReader(_RangeStream(path, data, size), BLOCK_BYTES)


class _RangeStream(io.RawIOBase):
    """An object of which each read is a request, but for the first block, which is given."""

    def __init__(self, path: str, first: bytes, size: int) -> None:
        super().__init__()
        self._path, self._first, self._size = path, first, size
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._size}[whence]
        self._offset = max(0, start + offset)
        return self._offset

    def readinto(self, buffer: Any) -> int:
        end = min(self._offset + len(buffer), self._size)
        if end <= self._offset:
            return 0
        if self._offset < len(self._first):
            data = self._first[self._offset : end]
        else:
            data = read_range(self._path, self._offset, end - self._offset)
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)


def read_range(path: str, offset: int, length: int) -> bytes:
    """Return bytes [offset, offset + length) of an object; fewer only where it ends."""
    store, key = located(path)
    with _errors(path):
        try:
            answer = obstore.get(store, key, options={"range": (offset, offset + length)})
            return bytes(answer.bytes())
        except BaseError:
            if offset < obstore.head(store, key)["size"]:
                raise
            return b""  # a range past the end is an error of the store


def put(path: str, data: bytes | BinaryIO) -> None:
    """Write an object, which is visible once it is complete."""
    store, key = located(path)
    with _errors(path):
        obstore.put(store, key, data, chunk_size=_UPLOAD_BYTES, max_concurrency=2)
    if (known := _listing_of(path)) is not None:
        size = len(data) if isinstance(data, bytes) else data.seek(0, io.SEEK_END)
        known[path] = ObjectInfo(path, size, time.time())


def put_new(path: str, data: bytes) -> str | None:
    """Write an object that does not exist yet; return its version, or None if it exists."""
    store, key = located(path)
    with _errors(path), contextlib.suppress(AlreadyExistsError, PreconditionError):
        return _version(obstore.put(store, key, data, mode="create"))
    return None


def put_over(path: str, data: bytes, version: str) -> str | None:
    """Replace this version of an object; return the new one, or None if another is there."""
    store, key = located(path)
    mode: Any = {"version" if path.startswith("gs:") else "e_tag": version}
    with _errors(path), contextlib.suppress(PreconditionError, AlreadyExistsError, NotFoundError):
        return _version(obstore.put(store, key, data, mode=mode))
    return None


def get_with_version(path: str) -> tuple[bytes, str] | None:
    """Return an object and its version, or None if it does not exist."""
    store, key = located(path)
    with _errors(path), contextlib.suppress(FileNotFoundError, NotFoundError):
        answer = obstore.get(store, key)
        return bytes(answer.bytes()), _version(answer.meta)
    return None


def info(path: str) -> ObjectInfo | None:
    """Return the description of an object, or None if it does not exist."""
    if (found := _listing_of(path)) is not None:
        return found.get(path)
    store, key = located(path)
    with _errors(path), contextlib.suppress(FileNotFoundError, NotFoundError):
        return _described(path.removesuffix(key), obstore.head(store, key))
    return None


def delete(paths: Sequence[str]) -> None:
    """Delete the objects that exist, of one bucket."""
    paths = [path for path in paths if (known := _listing_of(path)) is None or path in known]
    if paths:
        store, _ = located(paths[0])
        with _errors(paths[0]), contextlib.suppress(FileNotFoundError, NotFoundError):
            obstore.delete(store, [located(path)[1] for path in paths])
        for path in paths:
            if (known := _listing_of(path)) is not None:
                del known[path]


def rename(path: str, target: str) -> None:
    """Copy an object of a bucket to another key and delete it. Raises FileNotFoundError."""
    store, key = located(path)
    with _errors(path):
        obstore.rename(store, key, located(target)[1])


def in_folder(folder: str) -> list[ObjectInfo]:
    """Return the objects directly in a folder, sorted."""
    if (known := _listing_of(folder)) is not None:
        root = folder.rstrip("/")
        return sorted(each for path, each in known.items() if path.rpartition("/")[0] == root)
    store, prefix = located(folder)
    with _errors(folder):
        found = obstore.list_with_delimiter(store, prefix)["objects"]
    root = folder.removesuffix(prefix)
    return sorted(_described(root, meta) for meta in found)


def in_tree(folder: str) -> list[ObjectInfo]:
    """Return the objects in a folder and in all folders below it, sorted."""
    if (known := _listing_of(folder)) is not None:
        root = f"{folder.rstrip('/')}/"
        return sorted(each for path, each in known.items() if path.startswith(root))
    return _tree(folder)


def _tree(folder: str) -> list[ObjectInfo]:
    store, prefix = located(folder)
    root = folder.removesuffix(prefix)
    with _errors(folder):
        listed = obstore.list(store, prefix, chunk_size=1000)
        return sorted(_described(root, meta) for chunk in listed for meta in chunk)


def matching(pattern: str) -> list[ObjectInfo]:
    """Return the objects whose URL matches: `*` and `?` stay in a folder, `**` does not."""
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    if fixed == pattern:
        found = info(pattern)
        return [] if found is None else [found]
    folder = fixed.rpartition("/")[0]
    is_deep = "**" in pattern or "/" in pattern[len(folder) + 1 :]
    listed = in_tree(folder) if is_deep else in_folder(folder)
    expression = re.compile(_regular_expression(pattern))
    return [each for each in listed if expression.fullmatch(each.path)]


def _regular_expression(pattern: str) -> str:
    tokens = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*|[*?]|\[[^\]]+\])", pattern)
    return "".join(tokens.get(p) or (p if p.startswith("[") else re.escape(p)) for p in parts)


@contextlib.contextmanager
def listed(folder: str) -> Iterator[None]:
    """List a folder and all below it once for what this process asks about it in the block.

    What others write meanwhile is not seen, but for blocks of `unlisted`. A block inside another
    one changes nothing.
    """
    if not is_object(folder) or folder in _listings:
        yield
        return
    _listings[folder] = _Listing()
    try:
        yield
    finally:
        del _listings[folder]


@contextlib.contextmanager
def unlisted(folder: str) -> Iterator[None]:
    """Ask the store itself in the block, in which others write; list the folder again after it."""
    if (listing := _listings.get(folder)) is None:
        yield
        return
    listing.is_used, listing.found = False, None
    try:
        yield
    finally:
        listing.is_used = True


def _listing_of(path: str) -> dict[str, ObjectInfo] | None:
    for folder, listing in _listings.items():
        if listing.is_used and (path == folder or path.startswith(f"{folder.rstrip('/')}/")):
            if listing.found is None:
                listing.found = {each.path: each for each in _tree(folder)}
            return listing.found
    return None


def _described(root: str, meta: Any) -> ObjectInfo:
    return ObjectInfo(root + meta["path"], meta["size"], meta["last_modified"].timestamp())


def _version(answer: Any) -> str:
    return str(answer["version"] or answer["e_tag"])


@contextlib.contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotFoundError) as error:
        raise FileNotFoundError(f"{path} does not exist") from error
    except BaseError as error:
        raise OSError(f"{path}: {str(error).splitlines()[0]}") from error
