"""What undoes the compression of a member of a file: gzip, zstd, or none.

zlib-ng takes half of zlib's time, which is most of what a record costs that nobody wants.
"""

from typing import Any, cast

import zstandard
from zlib_ng import zlib_ng

GZIP, ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
# the stubs of zlib-ng take its error for an instance
DECODING_ERRORS: tuple[type[Exception], ...] = (cast(Any, zlib_ng.error), zstandard.ZstdError)
PIECE_BYTES = 1 << 18  # at most about so much is decompressed at once, whatever the ratio
_SALVAGED_BYTES = 64  # at most so much is lost before the damage
_ZSTD_STEP = 512  # a byte of zstd can stand for 32 KiB
_MAX_DICTIONARY_BYTES = 1 << 20


class Plain:
    """What is not compressed, behind the interface of zlib's decompressor."""

    eof, unused_data, unconsumed_tail = False, b"", b""

    def decompress(self, data: bytes, most: int) -> bytes:
        return data


class _ZstdFrame:
    """A zstd frame behind the interface of zlib's decompressor."""

    def __init__(self, dictionary: Any) -> None:
        self._frame = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
        self.eof, self.unused_data, self.unconsumed_tail = False, b"", b""

    def decompress(self, data: bytes, most: int) -> bytes:
        out = bytearray()
        place = 0
        while place < len(data) and len(out) < most and not self.eof:
            out += self._frame.decompress(data[place : place + _ZSTD_STEP])
            place += _ZSTD_STEP
            self.eof = self._frame.eof
        rest = data[place:]
        if self.eof:
            self.unused_data = self._frame.unused_data + rest
        self.unconsumed_tail = b"" if self.eof else rest
        return bytes(out)


def decoder(start: bytes, dictionary: Any) -> Any:
    """What reads the member that starts so."""
    if start.startswith(GZIP):
        return zlib_ng.decompressobj(31)
    return _ZstdFrame(dictionary) if start.startswith(ZSTD) else Plain()


def salvage(data: bytes, dictionary: Any) -> bytes:
    """What a damaged member gives before its damage, so that it is told whose record it was."""
    out = bytearray()
    decode = decoder(data, dictionary)
    try:
        while data and len(out) < PIECE_BYTES:
            out += decode.decompress(data, _SALVAGED_BYTES)
            data = decode.unconsumed_tail
    except DECODING_ERRORS:
        pass
    return bytes(out)


def read_dictionary(data: bytes) -> Any:
    """The dictionary in a frame, which may be compressed itself; None if it is broken."""
    try:
        if data.startswith(ZSTD):
            data = zstandard.ZstdDecompressor().stream_reader(data).read(_MAX_DICTIONARY_BYTES)
        return zstandard.ZstdCompressionDict(data) if data else None
    except zstandard.ZstdError:
        return None
