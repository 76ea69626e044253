"""Wanted pages that no crawl gave: their URLs to fetch, and the filter that knows them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import read_each, read_tables
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.wanted.url_filter import Keys, distinct_keys, read_keys, write_filter

FILTER = ".work/filter/missing.filter"


def document_keys(paths: Iterable[str]) -> Keys:
    """The keys of the URLs of shards of `documents/`, each once, in rising order."""
    return distinct_keys(np.concatenate([np.empty(0, np.uint64), *read_each(_keys_in, paths)]))


def _keys_in(path: str) -> Keys:
    urls = (url for table in read_tables(path, ["url"]) for url in table["url"].to_pylist())
    return np.fromiter(map(url_key, urls), np.uint64)


def missing_urls(wanted_paths: Iterable[str], document_paths: Iterable[str]) -> Iterator[str]:
    """The URLs of shards of `wanted/`, each once, that no document of `documents/` answers.

    Those that are never taken (Wikipedia's own) are left out.
    """
    have = document_keys(document_paths)
    for path in wanted_paths:
        tables = read_tables(path, ["url", "reason"])
        for url, _ in groupby(url for table in tables for url in _missing(table, have)):
            yield url


def _missing(wanted: pa.Table, have: Keys) -> Iterator[str]:
    """The URLs of rows of `wanted/`, in their order, whose keys are not among those given."""
    urls = wanted.filter(pc.is_null(wanted["reason"]))["url"].to_pylist()
    keys = np.fromiter(map(url_key, urls), np.uint64, len(urls))
    return (url for url, has in zip(urls, is_among(keys, have), strict=True) if not has)


def is_among(keys: Keys, have: Keys) -> npt.NDArray[np.bool_]:
    """Whether each key is one of those that `have`, in rising order, holds."""
    if not len(have):
        return np.zeros(len(keys), np.bool_)
    indexes = np.minimum(np.searchsorted(have, keys), len(have) - 1)
    return np.asarray(have[indexes] == keys)


@dataclass(frozen=True)
class BuildMissingFilter:
    """Files of the keys of `wanted/`, their ranges in rising order, less documents -> `FILTER`."""

    out: str
    document_paths: list[str]
    ticker: Ticker

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        have = document_keys(files.join(self.out, path) for path in self.document_paths)

        def missing() -> Iterator[Keys]:
            for path in paths:
                for keys in read_keys(files.join(self.out, path)):
                    yield keys[~is_among(keys, have)]

        count = 0
        for keys in missing():
            count += len(keys)
            self.ticker.add(items=len(keys), work=len(keys))
        made = write_filter(self.out, FILTER, missing(), count)
        self.ticker.flush()
        return PartResult([made], {"urls_out": count})
