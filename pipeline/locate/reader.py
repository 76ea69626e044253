"""Requests to crawl indexes of all kinds, and their answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from wikisum.crawl.errors import DataError
from wikisum.crawl.index.cdx import Entry
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.remote.access import Remote


class IndexSlice(NamedTuple):
    """Part `part` of `part_count` of the index of crawl number `crawl_rank`."""

    crawl_rank: int
    crawl: str
    part: int
    part_count: int


class Answer(NamedTuple):
    """The captures that the index has for lookups with one key, and the errors on the way."""

    lookups: list[Lookup]
    entries: list[Entry]
    faults: list[DataError]


@dataclass(frozen=True)
class IndexReader:
    """How to reach an index, and what to look up in it."""

    remote: Remote
    connections: int
    lookups: Lookups
    server: str


def by_key(lookups: Iterable[Lookup]) -> Iterator[tuple[str, list[Lookup]]]:
    """Sorted lookups in groups with equal keys."""
    for surt, same in groupby(lookups, key=lambda lookup: lookup.surt):
        yield surt, list(same)
