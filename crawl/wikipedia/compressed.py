"""Decompress bz2, gzip and zstd streams in bounded pieces.

A few bytes can stand for gigabytes, so all readers here ask for at most so much output at a time
and hold no more than that, whatever the compression ratio.
"""

import bz2
import io
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

import zstandard

from wikisum.crawl.zstd_frame import ZstdFrame

BLOCK_BYTES = 1 << 18
_ERRORS = (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError)
_MAGIC = {b"BZh": "bz2", b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Decoder(Protocol):
    """One compressed stream, with the interface of `bz2.BZ2Decompressor`."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _ZlibLike:
    """A decompressor with the interface of zlib's, as one with that of bz2's."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return bytes(self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length))


def compression_of(head: bytes) -> str | None:
    """`bz2`, `gzip` or `zstd` for a file that begins with these bytes, or None."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def new_decoder(kind: str) -> Decoder:
    """A decoder for one stream of this kind."""
    if kind == "bz2":
        return bz2.BZ2Decompressor()
    return _ZlibLike(zlib.decompressobj(31) if kind == "gzip" else ZstdFrame())


class StreamReader:
    """Decompresses one stream; `rest` is what was read beyond its end.

    Iterate over `blocks()` to the end before using `size` (compressed bytes of the stream), `rest`
    and `fault` (why the stream ended early, or None).
    """

    def __init__(self, raw: BinaryIO, kind: str, head: bytes = b"") -> None:
        self._raw = raw
        self._kind = kind
        self._head = head
        self.size = 0
        self.rest = b""
        self.fault: str | None = None

    def blocks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes, at most BLOCK_BYTES at a time."""
        decoder = new_decoder(self._kind)
        while not decoder.eof:
            data = b""
            if decoder.needs_input:
                data, self._head = self._head or self._raw.read(BLOCK_BYTES), b""
                if not data:
                    self.fault = "ends early" if self.size else None
                    return
                self.size += len(data)
            try:
                block = decoder.decompress(data, BLOCK_BYTES)
            except _ERRORS as error:
                self.fault = f"is damaged: {error}"
                return
            for start in range(0, len(block), BLOCK_BYTES):
                yield block[start : start + BLOCK_BYTES]
        self.rest = decoder.unused_data
        self.size -= len(self.rest)


class DecompressedFile(io.RawIOBase):
    """The contents of a chain of compressed streams, as a readable file.

    Damage ends the file early and is then its `fault`.
    """

    def __init__(self, raw: BinaryIO, head: bytes, kind: str) -> None:
        self._blocks = self._all_blocks(raw, head, kind)
        self._block = memoryview(b"")
        self.fault: str | None = None

    def _all_blocks(self, raw: BinaryIO, rest: bytes, kind: str) -> Iterator[bytes]:
        while True:
            stream = StreamReader(raw, kind, rest)
            yield from stream.blocks()
            if stream.fault is not None:
                self.fault = f"the compressed file {stream.fault}"
            if stream.fault is not None or stream.size == 0:
                return
            rest = stream.rest

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if not self._block:
            self._block = memoryview(next(self._blocks, b""))
        count = min(len(target), len(self._block))
        target[:count] = self._block[:count]
        self._block = self._block[count:]
        return count
