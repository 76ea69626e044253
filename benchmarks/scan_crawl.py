"""A crawl of real pages, as large as wanted, written in the time that it takes to copy it."""

import base64
import gzip
import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.builders import gzipped, warc_record
from wikisum.crawl.warc.warc import PageRecord, read_captures

_GZIP_HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\x03"


class Body(NamedTuple):
    """A page, its digest, and the end of its record as it is and compressed."""

    payload: bytes
    digest: str
    rest: bytes
    packed: bytes


def read_pages(data: Path) -> list[Body]:
    """The real pages that there are: those of a crawl, and those that a person marked."""
    with (data / "pages-dev.warc.gz").open("rb") as raw:
        pages = [p.payload for p in read_captures(raw) if isinstance(p, PageRecord)]
    with gzip.open(data / "extraction-dev.jsonl.gz", "rt") as lines:
        pages += [json.loads(line)["html"].encode() for line in lines]
    bodies = []
    for page in pages:
        rest = page + b"\r\n\r\n"
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        digest = "sha1:" + base64.b32encode(hashlib.sha1(page).digest()).decode()
        bodies.append(Body(page, digest, rest, packer.compress(rest) + packer.flush()))
    return bodies


def member(url: str, body: Body) -> bytes:
    """The response of a page as a gzip member; only its header is compressed again."""
    record = warc_record(url, body.payload, WARC_Payload_Digest=body.digest)
    head = record[: len(record) - len(body.rest)]
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH) + body.packed
    end = struct.pack("<II", zlib.crc32(record), len(record) & 0xFFFFFFFF)
    return _GZIP_HEAD + packed + end


def members(bodies: list[Body], urls: list[str]) -> Iterator[bytes]:
    """Request, response and metadata of each URL, as crawls have them; pages take turns."""
    for number, url in enumerate(urls):
        yield gzipped(warc_record(url, b"GET / HTTP/1.1\r\n\r\n", kind="request"))
        yield member(url, bodies[number % len(bodies)])
        yield gzipped(warc_record(url, b"fetchTimeMs: 128\r\n", kind="metadata"))


def write_crawl(path: Path, bodies: list[Body], urls: list[str]) -> None:
    with path.open("wb") as file:
        file.writelines(members(bodies, urls))
