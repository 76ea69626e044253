"""Decompress a member of a crawl file: gzip, zstd, or none.

Decompression is most of the cost of a record that nobody wants, and zlib-ng takes half of zlib's
time.
"""

from typing import Any, cast

import zstandard
from zlib_ng import zlib_ng

from wikisum.crawl.zstd_frame import ZstdFrame

GZIP, ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
# The type stubs of zlib-ng declare its error as an instance.
DECODING_ERRORS: tuple[type[Exception], ...] = (cast(Any, zlib_ng.error), zstandard.ZstdError)
PIECE_BYTES = 1 << 18  # decompressed at once, about, whatever the ratio
_SALVAGE_STEP_BYTES = 64  # of the output, so that at most so much is lost before the damage
_MAX_DICTIONARY_BYTES = 1 << 20


class Plain:
    """Uncompressed data, with the interface of zlib's decompressor."""

    eof, unused_data, unconsumed_tail = False, b"", b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return data


def decoder(start: bytes, dictionary: Any) -> Any:
    """Return a decompressor for the member that begins with these bytes."""
    if start.startswith(GZIP):
        return zlib_ng.decompressobj(31)
    return ZstdFrame(dictionary) if start.startswith(ZSTD) else Plain()


def salvage(data: bytes, dictionary: Any) -> bytes:
    """Return what a damaged member holds before the damage; it may show the record's URL."""
    out = bytearray()
    decode = decoder(data, dictionary)
    try:
        while data and len(out) < PIECE_BYTES:
            out += decode.decompress(data, _SALVAGE_STEP_BYTES)
            data = decode.unconsumed_tail
    except DECODING_ERRORS:
        pass
    return bytes(out)


def read_dictionary(data: bytes) -> Any:
    """Return the zstd dictionary in a frame, which may be compressed itself; None if broken."""
    try:
        if data.startswith(ZSTD):
            data = zstandard.ZstdDecompressor().stream_reader(data).read(_MAX_DICTIONARY_BYTES)
        return zstandard.ZstdCompressionDict(data) if data else None
    except zstandard.ZstdError:
        return None
