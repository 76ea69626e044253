"""The beginning of a file, counted as it is read."""

from typing import Any

ALL = 1 << 62


class Prefix:
    """A binary stream that ends after `max_bytes`; `read_bytes` counts what was read."""

    def __init__(self, raw: Any, max_bytes: int = ALL) -> None:
        self._raw = raw
        self._max_bytes = max_bytes
        self.read_bytes = 0

    def read(self, size: int) -> bytes:
        return self._counted(self._raw.read(min(size, self._max_bytes - self.read_bytes)))

    def readline(self) -> bytes:
        return self._counted(self._raw.readline() if self.read_bytes < self._max_bytes else b"")

    def end(self) -> None:
        """Give no more bytes."""
        self._max_bytes = self.read_bytes

    def seek(self, offset: int) -> None:
        self._raw.seek(offset)

    def _counted(self, data: bytes) -> bytes:
        self.read_bytes += len(data)
        return data
