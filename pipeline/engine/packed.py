"""Records as bytes while they are shuffled: typed MessagePack, compressed where it saves space.

    data = pack(document)
    document = unpack(data, Document)

A record that has other fields than its class, or fields of other types, is an error when it is
unpacked, not a row of shifted columns.
"""

import threading
from functools import cache
from typing import Any, TypeVar

import msgspec
import zstandard

COMPRESS_FROM_BYTES = 1024
_PLAIN, _COMPRESSED = b"\0", b"\1"  # the first byte of packed data

T = TypeVar("T")


class _Contexts(threading.local):
    """Compression contexts of one thread, which may not share them; a new one costs 30 us."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=1)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()
_encoder = msgspec.msgpack.Encoder()


@cache
def _decoder(kind: Any) -> msgspec.msgpack.Decoder:
    return msgspec.msgpack.Decoder(kind)


def pack(value: object) -> bytes:
    """Return a record, or plain lists, strings, bytes and numbers, as bytes."""
    data = _encoder.encode(value)
    if len(data) < COMPRESS_FROM_BYTES:
        return _PLAIN + data
    return _COMPRESSED + _contexts.compressor.compress(data)


def unpack(data: bytes, kind: type[T]) -> T:
    """Return the packed value, of type `kind`.

    Raises msgspec.ValidationError if it is of another type or has other fields.
    """
    plain = memoryview(data)[1:]
    if data[:1] == _COMPRESSED:
        plain = memoryview(_contexts.decompressor.decompress(plain))
    key: Any = kind
    value: T = _decoder(key).decode(plain)
    return value
