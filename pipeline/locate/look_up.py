"""Sorted look-ups -> candidates: the captures that a crawl's index has, and redirects to follow."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.index.cdx import Entry, drop_reason, parse_date, preference, redirect_target
from wikisum.crawl.index.surt import surt_key
from wikisum.crawl.urls import canonical_url, is_wikipedia
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.retry import Aside
from wikisum.pipeline.engine.shards import ShardWriter, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.locate.cdx_server import server_answers
from wikisum.pipeline.locate.columnar import table_answers
from wikisum.pipeline.locate.keys import LOOKUP, Lookup, Lookups
from wikisum.pipeline.locate.reader import Answer, IndexReader, IndexSlice
from wikisum.pipeline.locate.zipnum import zipnum_answers
from wikisum.pipeline.options import LocateSettings
from wikisum.pipeline.remote.access import Access

CANDIDATES, REDIRECTS = ".work/candidates-of-urls", ".work/redirects-of-urls"
ANSWERS: dict[str, Callable[[IndexSlice, IndexReader], Iterator[Answer]]] = {
    "zipnum": zipnum_answers,
    "columnar": table_answers,
    "server": server_answers,
}


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


_ENTRY = [
    (name, pa.int64() if name in ("status", "offset", "length") else pa.string())
    for name in Entry._fields
]
CANDIDATE = pa.schema(
    {
        "url": pa.string(),
        "place": pa.int32(),
        "hops": pa.int32(),
        "reason": pa.string(),
        "detail": pa.string(),
        "entry": pa.struct(_ENTRY),
    }
)


def candidates_of(
    lookup: Lookup, answer: Answer, place: int, hops: int, date: float | None, most: int
) -> Iterator[Candidate]:
    """The best usable captures of the page, at most so many, or the reason why there is none."""
    entries = _entries_of(lookup, answer, date)
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
    entries = _entries_of(lookup, answer, date)
    if any(drop_reason(e) is None for e in entries):
        return None
    for target in filter(None, map(redirect_target, entries)):
        try:
            url = canonical_url(target)
            if url != lookup.url and not is_wikipedia(url):
                return Lookup(surt_key(url), url, lookup.wanted)
        except BadUrl:
            continue
    return None


def _entries_of(lookup: Lookup, answer: Answer, date: float | None) -> list[Entry]:
    """The captures of this very page, the best first; keys do not tell case apart."""

    def is_of_page(entry: Entry) -> bool:
        try:
            return canonical_url(entry.url) == lookup.url
        except BadUrl:
            return False

    return sorted(filter(is_of_page, answer.entries), key=lambda e: preference(e, date))


def read_candidates(path: str) -> Iterator[Candidate]:
    """The candidates of a file."""
    for row in read_rows(path):
        entry = Entry(**row["entry"]) if row["entry"] else None
        yield Candidate(**{**row, "entry": entry})


@dataclass(frozen=True)
class LookUp:
    """A slice of a crawl's index -> candidates for the wanted URLs in it, and redirects to follow.

    `lookups` are those of each crawl. Of what an earlier run set aside, only the URLs that failed
    for its reasons are looked up again.
    """

    out: str
    stage: str
    hops: int
    settings: LocateSettings
    access: Access
    lookups: tuple[Lookups, ...]
    aside: Aside | None
    ticker: Ticker

    def __call__(self, index: int, task: IndexSlice) -> PartResult:
        counts: Counter[str] = Counter()
        name = f"{self.stage}-{task.place:03d}-{index:05d}.parquet"
        found = ShardWriter(self.out, f"{CANDIDATES}/{name}", CANDIDATE, {})
        following = ShardWriter(self.out, f"{REDIRECTS}/{name}", LOOKUP, {})
        redirects: list[Lookup] = []
        remote = self.access.remote()
        with found, following:
            again = self._keep(name, found, redirects, counts)
            lookups = self.lookups[task.place]._replace(wanted=again)
            server = self.access.settings.index_server
            reader = IndexReader(remote, self.access.connections, lookups, server)
            for candidate in self._candidates(task, reader, redirects):
                found.write(candidate)
                counts[f"candidates_{candidate.reason or 'usable'}"] += 1
            for redirect in sorted(redirects):
                following.write(redirect)
        counts["redirects_out"] = len(redirects)
        self.ticker.flush()
        written = [f for w in (found, following) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(remote.effort))

    def _candidates(
        self, task: IndexSlice, reader: IndexReader, redirects: list[Lookup]
    ) -> Iterator[Candidate]:
        """The candidates of the slice; redirects are added to those that there are."""
        date = parse_date(self.settings.date) if self.settings.date else None
        most = self.settings.captures
        for answer in ANSWERS[self.settings.index](task, reader):
            for lookup in answer.lookups:
                yield from candidates_of(lookup, answer, task.place, self.hops, date, most)
                self.ticker.add(items=1, work=1)
                if self.hops == 0 and (further := redirect_of(lookup, answer, date)):
                    redirects.append(further)

    def _keep(
        self, name: str, found: ShardWriter, redirects: list[Lookup], counts: Counter[str]
    ) -> frozenset[str] | None:
        """Keep what an earlier run found; the URLs to look up again, or None for all."""
        path = self.aside.path(f"{CANDIDATES}/{name}") if self.aside else None
        if self.aside is None or path is None:
            return None
        again = {c.url for c in read_candidates(path) if c.reason in self.aside.reasons}
        for candidate in read_candidates(path):
            if candidate.url not in again:
                found.write(candidate)
                counts[f"candidates_{candidate.reason or 'usable'}"] += 1
        if earlier := self.aside.path(f"{REDIRECTS}/{name}"):
            kept = (Lookup(**row) for row in read_rows(earlier))
            redirects += [lookup for lookup in kept if lookup.wanted not in again]
        return frozenset(again)
