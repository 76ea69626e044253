"""Sorted look-ups -> the captures that a crawl's index has of them: one part, one slice of it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from crawl.cdx import (
    MAX_BLOCK_BYTES,
    Entry,
    block_lines,
    drop_reason,
    entries_with,
    parse_date,
    preference,
    redirect_target,
)
from crawl.cluster import Needed, needed_blocks, slice_of
from crawl.errors import BadAnswer, BadLine, BadRecord, BadUrl, DataError
from crawl.ranges import Span
from crawl.surt import surt_key
from crawl.urls import canonical_url, is_wikipedia
from pipeline.index_keys import LOOKUP, Lookup, sorted_lookups
from pipeline.options import LocateSettings
from pipeline.progress import Ticker
from pipeline.read_spans import read_spans
from pipeline.remote import Access, Remote
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult

CANDIDATES, REDIRECTS = ".work/candidates", ".work/redirects"


class Candidate(NamedTuple):
    """What the index of crawl number `place` has of a wanted URL, after `hops` redirects.

    A usable capture, or the `reason` why there is none there.
    """

    url: str
    place: int
    hops: int
    reason: str | None
    detail: str | None
    entry: Entry | None


CANDIDATE = pa.schema(
    {
        "url": pa.string(),
        "place": pa.int32(),
        "hops": pa.int32(),
        "reason": pa.string(),
        "detail": pa.string(),
        "entry": pa.struct(
            [
                (name, pa.int64() if name in ("status", "offset", "length") else pa.string())
                for name in Entry._fields
            ]
        ),
    }
)


class IndexSlice(NamedTuple):
    """Part `part` of `part_count` of the index of crawl number `place`."""

    place: int
    crawl: str
    part: int
    part_count: int


class Answer(NamedTuple):
    """What the index has of some look-ups with the same key: captures, in its order, and faults."""

    lookups: list[Lookup]
    entries: list[Entry]
    faults: list[DataError]


def _by_key(lookups: Iterable[Lookup]) -> Iterator[tuple[str, list[Lookup]]]:
    for surt, same in groupby(lookups, key=lambda lookup: lookup.surt):
        yield surt, list(same)


def zipnum_answers(
    task: IndexSlice,
    remote: Remote,
    connections: int,
    key_paths: tuple[str, ...],
    key_count: int,
    counts: Counter[str],
) -> Iterator[Answer]:
    """Answers of the blocks of a slice of a ZipNum index; a key may have one of several blocks."""
    folder = f"cc-index/collections/{task.crawl}/indexes"
    path = f"{folder}/cluster.idx"
    size = remote.size(path)

    def read(offset: int, length: int) -> bytes:
        length = min(length, size - offset)
        counts["cluster_bytes"] += length
        return remote.read(path, offset, length) if length > 0 else b""

    def span_of(needed: Needed[Lookup]) -> Span:
        block = needed.block
        return Span(f"{folder}/{block.file}", block.offset, block.length)

    start, end = slice_of(read, size, task.part, task.part_count)
    lookups = sorted_lookups(key_paths, "", None)
    needed = needed_blocks(read, start, end, size, lookups, max(1, key_count // task.part_count))
    for block, data in read_spans(remote, connections, needed, span_of, MAX_BLOCK_BYTES):
        counts["blocks_read"] += 1
        by_key = dict(_by_key(block.keys))
        answers = {surt: Answer(same, [], []) for surt, same in by_key.items()}
        try:
            if isinstance(data, BadAnswer):
                raise data
            for surt, found in entries_with(block_lines(data), by_key):
                if isinstance(found, BadLine):
                    answers[surt].faults.append(found)
                else:
                    answers[surt].entries.append(found)
        except (BadAnswer, BadRecord) as error:
            for answer in answers.values():
                answer.faults.append(error)
        yield from answers.values()


def candidates_of(
    lookup: Lookup, answer: Answer, place: int, hops: int, date: float | None, most: int
) -> Iterator[Candidate]:
    """The best usable captures of the page, at most so many, or the reason why there is none."""
    entries = [e for e in answer.entries if _is_of(e, lookup.url)]
    entries.sort(key=lambda e: preference(e, date))
    usable = [e for e in entries if drop_reason(e) is None]
    for entry in usable[:most]:
        yield Candidate(lookup.wanted, place, hops, None, None, entry)
    if not usable:
        for error in answer.faults[:1]:
            yield Candidate(lookup.wanted, place, hops, error.reason, str(error), None)
        for entry in entries[:1]:
            yield Candidate(lookup.wanted, place, hops, drop_reason(entry), None, entry)


def redirect_of(lookup: Lookup, answer: Answer, date: float | None) -> Lookup | None:
    """Where to look next for a page of which there are only redirects, or None."""
    entries = [e for e in answer.entries if _is_of(e, lookup.url)]
    if any(drop_reason(e) is None for e in entries):
        return None
    for entry in sorted(entries, key=lambda e: preference(e, date)):
        target = redirect_target(entry)
        try:
            url = canonical_url(target) if target else None
            if url and url != lookup.url and not is_wikipedia(url):
                return Lookup(surt_key(url), url, lookup.wanted)
        except BadUrl:
            continue
    return None


def _is_of(entry: Entry, url: str) -> bool:
    """Whether a capture is of this very page; keys do not tell upper and lower case apart."""
    try:
        return canonical_url(entry.url) == url
    except BadUrl:
        return False


@dataclass(frozen=True)
class LookUp:
    """A slice of a crawl's index -> candidates for the wanted URLs in it, and redirects to follow.

    `key_paths` are the sorted look-ups of each crawl.
    """

    out: str
    stage: str
    hops: int
    settings: LocateSettings
    access: Access
    key_paths: tuple[tuple[str, ...], ...]
    key_counts: tuple[int, ...]
    ticker: Ticker

    def __call__(self, index: int, task: IndexSlice) -> PartResult:
        counts: Counter[str] = Counter()
        redirects: list[Lookup] = []
        remote = self.access.remote()
        date = parse_date(self.settings.date) if self.settings.date else None
        name = f"{self.stage}-{task.place:03d}-{index:05d}.parquet"
        found = ShardWriter(self.out, f"{CANDIDATES}/{name}", CANDIDATE, {})
        with found:
            for answer in zipnum_answers(
                task,
                remote,
                self.access.connections,
                self.key_paths[task.place],
                self.key_counts[task.place],
                counts,
            ):
                for lookup in answer.lookups:
                    for candidate in candidates_of(
                        lookup, answer, task.place, self.hops, date, self.settings.captures
                    ):
                        found.write(candidate)
                        counts[f"candidates_{candidate.reason or 'usable'}"] += 1
                    self.ticker.add(items=1, work=1)
                    if self.hops == 0 and (further := redirect_of(lookup, answer, date)):
                        redirects.append(further)
        following = ShardWriter(self.out, f"{REDIRECTS}/{name}", LOOKUP, {})
        with following:
            for further in sorted(redirects):
                following.write(further)
        counts["redirects_out"] = len(redirects)
        self.ticker.flush()
        written = [f for w in (found, following) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(remote.effort))
