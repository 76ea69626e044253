"""Which bytes of which crawl files each part of a scan reads, planned by the files' sizes alone."""

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import NamedTuple

from wikisum.pipeline.engine.files import InputFile, is_remote

MOST_PARTS = 5_000
EVEN_PARTS = 64  # so many at least, where there is work for them, keep as many cores busy
LEAST_BYTES, MOST_BYTES = 4 << 20, 256 << 20
STORE_LEAST_BYTES = 64 << 20  # an object store's stream reads 16 MB ahead, wherever it goes


class FileShare(NamedTuple):
    """Bytes [first, before) of a crawl file, or up to its end."""

    file: InputFile
    first: int = 0
    before: int | None = None

    @property
    def size_bytes(self) -> int:
        return (self.file.size_bytes if self.before is None else self.before) - self.first


def share_bytes(warcs: list[InputFile]) -> int:
    """How large a share of a file is at most."""
    total = sum(file.size_bytes for file in warcs)
    least = STORE_LEAST_BYTES if any(is_remote(file.path) for file in warcs) else LEAST_BYTES
    return max(least, min(MOST_BYTES, total // EVEN_PARTS))


def plan_scan(
    warcs: list[InputFile], most_bytes: int, most_parts: int = MOST_PARTS
) -> list[list[FileShare]]:
    """What each part reads: a share of a file, or neighbours, so that there are at most so many.

    A whole crawl has 100,000 files; what is kept of each part, and asked of a store, would add up.
    A file of unknown size is one share.
    """
    shares = [share for file in warcs for share in _shares(file, most_bytes)]
    count = min(len(shares), most_parts)
    bounds = [len(shares) * part // count for part in range(count + 1)] if count else [0]
    return [_joined(shares[start:end]) for start, end in pairwise(bounds)]


def _shares(file: InputFile, most_bytes: int) -> list[FileShare]:
    """The file in equal shares."""
    count = max(1, -(-file.size_bytes // most_bytes))
    bounds = [file.size_bytes * share // count for share in range(count)]
    ends = [*bounds[1:], None]
    return [FileShare(file, first, end) for first, end in zip(bounds, ends, strict=True)]


def _joined(shares: Iterable[FileShare]) -> list[FileShare]:
    """The same with one share a file; those of a file follow each other."""
    by_file = (list(group) for _, group in groupby(shares, lambda share: share.file))
    return [FileShare(group[0].file, group[0].first, group[-1].before) for group in by_file]
