"""Decompress a zstd frame in bounded pieces: its blocks of 4 bytes can stand for 128 KiB each."""

from typing import Any

import zstandard

_STEP_BYTES = 256  # of the input, so that a step gives 8 MiB at most


class ZstdFrame:
    """A zstd frame, with the interface of zlib's decompressor."""

    def __init__(self, dictionary: Any = None) -> None:
        self._frame = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
        self.eof, self.unused_data, self.unconsumed_tail = False, b"", b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = bytearray()
        used = 0
        while used < len(data) and len(out) < max_length and not self.eof:
            out += self._frame.decompress(data[used : used + _STEP_BYTES])
            used += _STEP_BYTES
            self.eof = self._frame.eof
        rest = data[used:]
        if self.eof:
            self.unused_data = self._frame.unused_data + rest
        self.unconsumed_tail = b"" if self.eof else rest
        return bytes(out)
