"""What all kinds of crawl indexes are asked and answer."""

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
    """What a part of the index has of look-ups with one key: captures, and what went wrong."""

    lookups: list[Lookup]
    entries: list[Entry]
    faults: list[DataError]


@dataclass(frozen=True)
class IndexReader:
    """What it takes to read an index: the way to it, and what to look up."""

    remote: Remote
    connections: int
    lookups: Lookups
    server: str


def by_key(lookups: Iterable[Lookup]) -> Iterator[tuple[str, list[Lookup]]]:
    """Sorted look-ups, those with the same key together."""
    for surt, same in groupby(lookups, key=lambda lookup: lookup.surt):
        yield surt, list(same)
