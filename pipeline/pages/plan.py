"""Which bytes of which crawl files each part of a scan reads, planned by the files' sizes alone."""

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import NamedTuple

from wikisum.pipeline.engine.files import InputFile, is_remote

MAX_PARTS = 5_000
EVEN_PARTS = 64  # at min_bytes so many, if the files are large enough, so that all cores have work
MIN_BYTES, MAX_BYTES = 4 << 20, 256 << 20
STORE_MIN_BYTES = 64 << 20  # an object store's stream reads 16 MB ahead, wherever it goes


class FileShare(NamedTuple):
    """Bytes [first, before) of a crawl file, or up to its end."""

    file: InputFile
    first: int = 0
    before: int | None = None

    @property
    def size_bytes(self) -> int:
        return (self.file.size_bytes if self.before is None else self.before) - self.first


def share_bytes(warcs: list[InputFile]) -> int:
    """The maximum size of a share of a file."""
    total = sum(file.size_bytes for file in warcs)
    min_bytes = STORE_MIN_BYTES if any(is_remote(file.path) for file in warcs) else MIN_BYTES
    return max(min_bytes, min(MAX_BYTES, total // EVEN_PARTS))


def plan_scan(
    warcs: list[InputFile], max_bytes: int, max_parts: int = MAX_PARTS
) -> list[list[FileShare]]:
    """What each part reads: a share of a file, or some in a row, for at most `max_parts` parts.

    A whole crawl has 100,000 files, and each part costs a state file and requests to the store.
    A file of unknown size is one share.
    """
    shares = [share for file in warcs for share in _shares(file, max_bytes)]
    count = min(len(shares), max_parts)
    bounds = [len(shares) * part // count for part in range(count + 1)] if count else [0]
    return [_joined(shares[start:end]) for start, end in pairwise(bounds)]


def _shares(file: InputFile, max_bytes: int) -> list[FileShare]:
    """The file in equal shares."""
    count = max(1, -(-file.size_bytes // max_bytes))
    bounds = [file.size_bytes * share // count for share in range(count)]
    ends = [*bounds[1:], None]
    return [FileShare(file, first, end) for first, end in zip(bounds, ends, strict=True)]


def _joined(shares: Iterable[FileShare]) -> list[FileShare]:
    """Neighboring shares of each file joined into one."""
    by_file = (list(group) for _, group in groupby(shares, lambda share: share.file))
    return [FileShare(group[0].file, group[0].first, group[-1].before) for group in by_file]
