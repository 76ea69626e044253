"""WARC files -> `documents/`: each file is read once, by one worker, keeping the wanted pages."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, cast

import numpy as np
import pyarrow.parquet as pq

from crawl.errors import BadUrl
from crawl.urls import canonical_url, is_wikipedia, url_key
from crawl.warc import read_captures
from pipeline import files
from pipeline.files import InputFile
from pipeline.make_document import make_document
from pipeline.options import ScanSettings
from pipeline.progress import Ticker
from pipeline.records import DOCUMENT, DROPPED, Document
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult

STAGE = "scan"


@lru_cache(maxsize=1)
def wanted_keys(paths: tuple[str, ...], _fingerprint: str) -> np.ndarray:
    """The sorted 64-bit keys of all wanted URLs but Wikipedia's own, loaded once per process."""
    keys = [np.empty(0, np.uint64)]
    for path in paths:
        with files.open_input(path) as raw:
            file = pq.ParquetFile(raw)
            for group in range(file.num_row_groups):
                urls = file.read_row_group(group, columns=["url"]).column("url").to_pylist()
                wanted = [url_key(url) for url in urls if not is_wikipedia(url)]
                keys.append(np.array(wanted, np.uint64))
    return np.unique(np.concatenate(keys))


def contains(keys: np.ndarray, key: int) -> bool:
    """Whether the sorted `keys` hold `key`."""
    place = int(np.searchsorted(keys, np.uint64(key)))
    return place < len(keys) and int(keys[place]) == key


class CountingReader:
    """A binary stream that tells a ticker how far it has been read."""

    def __init__(self, raw: BinaryIO, ticker: Ticker) -> None:
        self._raw = raw
        self._ticker = ticker

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self._ticker.add(work=len(data))
        return data


@dataclass(frozen=True)
class ScanFile:
    """One WARC, ARC or WET file -> one shard of `documents/` and one of `dropped/`."""

    out: str
    part_count: int
    settings: ScanSettings
    wanted_paths: tuple[str, ...]
    wanted_fingerprint: str
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, file: InputFile) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        counts: Counter[str] = Counter()
        documents = ShardWriter(self.out, f"documents/documents-{name}", DOCUMENT, self.metadata)
        dropped = ShardWriter(self.out, f"dropped/dropped-scan-{name}", DROPPED, self.metadata)
        keys = wanted_keys(self.wanted_paths, self.wanted_fingerprint)

        def wanted(url: str) -> bool:
            counts["records_in"] += 1
            try:
                found = contains(keys, url_key(canonical_url(url)))
            except BadUrl:
                found = False
            counts["records_not_wanted"] += not found
            return found

        with documents, dropped, files.open_input(file.path) as raw:
            reader = CountingReader(raw, self.ticker)
            for item in read_captures(cast(BinaryIO, reader), wanted, self.settings.max_page_bytes):
                result = make_document(item, file.name, STAGE, self.settings, counts)
                self.ticker.add(items=1)
                if isinstance(result, Document):
                    counts["documents_out"] += 1
                    documents.write(result)
                else:
                    counts[f"dropped_{result.reason}"] += 1
                    dropped.write(result)
        self.ticker.flush()
        return PartResult([f for w in (documents, dropped) if (f := w.file)], dict(counts))
