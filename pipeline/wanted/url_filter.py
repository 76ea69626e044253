"""The keys of all wanted URLs -> one URL filter, a file that every worker maps into memory.

The `wanted` stage writes the keys sorted, and each of its parts holds a range of them. So they are
read once, block by block, and never all at a time.
"""

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.url_filter import UrlFilter, filter_words
from wikisum.crawl.urls import canonical_url, url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import PartResult

KEYS_FOLDER = ".work/wanted"
FILTER = ".work/filter/wanted.filter"
_BLOCK_KEYS = 1 << 20

Keys = npt.NDArray[np.uint64]


def distinct_keys(keys: Keys) -> Keys:
    """Sort keys in place, and return each once.

    `np.unique` does the same with a hash table, in a multiple of the time and memory.
    """
    keys.sort()
    is_first = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return keys[is_first]


def write_keys(out: str, name: str, keys: Iterable[int]) -> ShardFile:
    """Write the distinct keys, sorted, as 64-bit numbers; return the file's record."""
    array = distinct_keys(np.fromiter(keys, np.uint64))
    path = f"{KEYS_FOLDER}/{name}.keys"
    with files.AtomicFile(files.join(out, path)) as file:
        file.write(array.astype("<u8").tobytes())
    return ShardFile(path, len(array), file.size_bytes, file.sha256)


def read_keys(path: str) -> Iterator[Keys]:
    """Yield the keys of a file in blocks of about a million."""
    with files.open_input(path) as raw:
        while block := raw.read(8 * _BLOCK_KEYS):
            yield np.frombuffer(block, "<u8")


def write_filter(out: str, path: str, blocks: Iterable[Keys], key_count: int) -> ShardFile:
    """Write the filter of the keys, given in rising order; return the file's record."""
    with files.AtomicFile(files.join(out, path)) as file:
        for words in filter_words(blocks, key_count):
            file.write(words.astype("<u4").tobytes())
    return ShardFile(path, key_count, file.size_bytes, file.sha256)


@dataclass(frozen=True)
class BuildFilter:
    """Files of keys, in the order of their ranges -> `FILTER`."""

    out: str
    key_count: int
    ticker: Ticker

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        made = write_filter(self.out, FILTER, self._blocks(paths), self.key_count)
        self.ticker.flush()
        return PartResult([made])

    def _blocks(self, paths: list[str]) -> Iterator[Keys]:
        for path in paths:
            for keys in read_keys(files.join(self.out, path)):
                self.ticker.add(items=len(keys), work=len(keys))
                yield keys


@lru_cache(maxsize=1)
def load_filter(path: str, fingerprint: str) -> UrlFilter:
    """Return the filter, mapped into memory that all processes of the machine share.

    It is kept for the next call with the same path and fingerprint.
    """
    local = files.local_copy(path, fingerprint)
    with open(local, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return UrlFilter(memoryview(mapped).cast("I"))


def is_wanted(keys: UrlFilter, url: str) -> bool:
    """Whether the filter holds a URL as written in a crawl; False if it cannot be parsed."""
    try:
        return url_key(canonical_url(url)) in keys
    except BadUrl:
        return False
