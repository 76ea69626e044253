"""A whole file under a crawl's root as a stream, read in ranges, one of them ahead."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from wikisum.pipeline.remote.access import Remote

RANGE_BYTES = 8 << 20


class RemoteFile:
    """Reads as a binary stream. Opening and reading raise BadAnswer."""

    def __init__(self, remote: Remote, path: str) -> None:
        self._remote = remote
        self._path = path
        self._size = remote.size(path)
        self._pool = ThreadPoolExecutor(1)
        self._buffer = b""
        self._offset = 0
        self._asked = 0
        self._ahead: Future[bytes] | None = self._ask()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self) -> "Future[bytes] | None":
        """Have the next range read; None at the end."""
        length = min(RANGE_BYTES, self._size - self._asked)
        if length <= 0:
            return None
        ahead = self._pool.submit(self._remote.read, self._path, self._asked, length)
        self._asked += length
        return ahead

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`, or up to the end of the current range."""
        if self._offset == len(self._buffer):
            if self._ahead is None:
                return b""
            self._buffer, self._offset = self._ahead.result(), 0
            self._ahead = self._ask()
        end = len(self._buffer) if size < 0 else self._offset + size
        data = self._buffer[self._offset : end]
        self._offset += len(data)
        return data
