"""The beginning of a file, counted as it is read."""

from typing import Any

ALL = 1 << 62


class Prefix:
    """A binary stream that ends after `most` bytes; `taken` counts those that were read."""

    def __init__(self, raw: Any, most: int = ALL) -> None:
        self._raw = raw
        self._most = most
        self.taken = 0

    def read(self, size: int) -> bytes:
        return self._counted(self._raw.read(min(size, self._most - self.taken)))

    def readline(self) -> bytes:
        return self._counted(self._raw.readline() if self.taken < self._most else b"")

    def end(self) -> None:
        """Give no more bytes."""
        self._most = self.taken

    def seek(self, offset: int) -> None:
        self._raw.seek(offset)

    def _counted(self, data: bytes) -> bytes:
        self.taken += len(data)
        return data
