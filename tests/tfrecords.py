"""Small files in the form of the original WikiSum's, written from their description alone.

Nothing here is shared with the readers: the checksum is bit by bit, the message byte by byte.
"""

import json
import struct
from collections.abc import Iterable, Mapping


def crc32c(data: bytes) -> int:
    """The checksum of RFC 3720, B.4, one bit at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    turned = (crc >> 15 | crc << 17) & 0xFFFFFFFF
    return struct.pack("<I", (turned + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def _field(number: int, data: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def example(features: Mapping[str, Iterable[bytes]]) -> bytes:
    """A serialized Example of bytes features."""
    entries = b""
    for name, values in features.items():
        bytes_list = b"".join(_field(1, value) for value in values)
        entries += _field(1, _field(1, name.encode()) + _field(2, _field(1, bytes_list)))
    return _field(1, entries)


def content(url: str, title: str, lead: str, *sections: tuple[str, str]) -> bytes:
    """The TFRecord of one article; the lead bears the title as its heading."""
    every = [(title, lead), *sections]
    return tfrecord(
        example(
            {
                "url": [url.encode()],
                "title": [title.encode()],
                "section_titles": [heading.encode() for heading, _ in every],
                "section_texts": [body.encode() for _, body in every],
            }
        )
    )


def refs(urls_by_article: Mapping[str, list[str]]) -> bytes:
    return json.dumps({url: {"refs": urls} for url, urls in urls_by_article.items()}).encode()
