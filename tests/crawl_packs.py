"""Ways in which crawl files hold their records."""

import gzip

import zstandard

from tests.builders import gzipped


def arc_record(url: str, body: bytes) -> bytes:
    block = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = f"{url} 192.0.2.1 20140216050221 text/html {len(block)}\n"
    return head.encode() + block + b"\n"


def in_blocks(data: bytes) -> bytes:
    """As bgzip does it: members that begin and end anywhere."""
    return gzipped(*(data[i : i + 300] for i in range(0, len(data), 300)))


def zstd_records(*records: bytes) -> bytes:
    packer = zstandard.ZstdCompressor(write_checksum=True)
    return b"".join(packer.compress(r) for r in records)


PACKS = {
    "plain": lambda *r: b"".join(r),
    "gzip": gzipped,
    "gzip in one": lambda *r: gzip.compress(b"".join(r), mtime=0),
    "gzip in blocks": lambda *r: in_blocks(b"".join(r)),
    "zstd": zstd_records,
    "zstd in one": lambda *r: zstandard.compress(b"".join(r)),
}
BY_RECORD = ["plain", "gzip", "zstd"]
