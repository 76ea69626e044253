"""Read TFRecord files without TensorFlow.

A record is its length (64 bits, little-endian), the length's masked CRC-32C, the data, and the
data's masked CRC-32C.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import google_crc32c

from wikisum.crawl.errors import BadRecord

MAX_RECORD_BYTES = 256 << 20
_HEAD = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
_BLOCK_BYTES = 1 << 20


class Record(NamedTuple):
    """A record; `offset` is that of its length field in the file."""

    offset: int
    data: bytes


def masked_crc(data: bytes) -> int:
    """Return the CRC-32C as TFRecords store it: rotated by 15 bits, plus a constant."""
    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def is_tfrecord(head: bytes) -> bool:
    """Whether a file that begins with these 12 or more bytes holds TFRecords, by its checksum."""
    return len(head) >= _HEAD.size and _HEAD.unpack_from(head)[1] == masked_crc(head[:8])


def read_tfrecords(raw: BinaryIO) -> Iterator[Record | BadRecord]:
    """Yield the records of a file, and a BadRecord with its byte offset for each fault.

    A record with damaged data (`bad_checksum`) or over 256 MiB (`record_too_large`) costs only
    itself. After a damaged length, or where the file is cut off (`truncated_file`), nothing more
    can be read.
    """
    offset = 0
    while head := raw.read(_HEAD.size):
        if len(head) < _HEAD.size:
            yield _truncated(offset)
            return
        length, crc = _HEAD.unpack(head)
        if crc != masked_crc(head[:8]):
            yield BadRecord("bad_checksum", f"not a TFRecord at byte {offset}", offset)
            return
        end = offset + _HEAD.size + length + _CHECKSUM.size
        if length > MAX_RECORD_BYTES:
            yield BadRecord("record_too_large", f"{length} bytes at byte {offset}", offset)
            if not _skip(raw, length + _CHECKSUM.size):
                yield _truncated(offset)
                return
        else:
            rest = raw.read(length + _CHECKSUM.size)
            data, tail = rest[:length], rest[length:]
            if len(tail) < _CHECKSUM.size:
                yield _truncated(offset)
                return
            if _CHECKSUM.unpack(tail)[0] == masked_crc(data):
                yield Record(offset, data)
            else:
                detail = f"the data of the TFRecord at byte {offset} is damaged"
                yield BadRecord("bad_checksum", detail, offset)
        offset = end


def _truncated(offset: int) -> BadRecord:
    return BadRecord(
        "truncated_file", f"the file ends within the TFRecord at byte {offset}", offset
    )


def _skip(raw: BinaryIO, length: int) -> bool:
    """Skip so many bytes; False if the file ends before."""
    while length > 0:
        block = raw.read(min(length, _BLOCK_BYTES))
        if not block:
            return False
        length -= len(block)
    return True
