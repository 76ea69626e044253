"""Sorted lookups -> the captures that a crawl's index has, and redirects to follow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.index.cdx import Entry, drop_reason, parse_date, preference, redirect_target
from wikisum.crawl.index.surt import surt_key
from wikisum.crawl.urls import canonical_url
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.retry import PreviousRun
from wikisum.pipeline.engine.shards import read_records, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.locate.best_capture import LookupResult
from wikisum.pipeline.locate.cdx_server import server_answers
from wikisum.pipeline.locate.columnar import table_answers
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.reader import Answer, IndexReader, IndexSlice
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.locate.zipnum import zipnum_answers
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.urls import unwanted_reason

ANSWERS: dict[str, Callable[[IndexSlice, IndexReader], Iterator[Answer]]] = {
    "zipnum": zipnum_answers,
    "columnar": table_answers,
    "server": server_answers,
}


def results_of(
    lookup: Lookup, answer: Answer, crawl_rank: int, hops: int, date: float | None, max_count: int
) -> Iterator[LookupResult]:
    """The best `max_count` usable captures of the page, or the reason why there is none."""
    entries = _entries_of(lookup, answer, date)
    usable = [e for e in entries if drop_reason(e) is None]
    for entry in usable[:max_count]:
        yield LookupResult(lookup.wanted, crawl_rank, hops, None, None, entry)
    if not usable:
        for error in answer.faults[:1]:
            yield LookupResult(lookup.wanted, crawl_rank, hops, error.reason, str(error), None)
        for entry in entries[:1]:
            yield LookupResult(lookup.wanted, crawl_rank, hops, drop_reason(entry), None, entry)


def redirect_of(lookup: Lookup, answer: Answer, date: float | None) -> Lookup | None:
    """Where to look next for a page of which there are only redirects, or None."""
    entries = _entries_of(lookup, answer, date)
    if any(drop_reason(e) is None for e in entries):
        return None
    for target in filter(None, map(redirect_target, entries)):
        try:
            url = canonical_url(target)
            if url != lookup.url and unwanted_reason(url) is None:
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


def read_results(path: str) -> Iterator[LookupResult]:
    """The results in a file."""
    for row in read_rows(path):
        entry = Entry(**row["entry"]) if row["entry"] else None
        yield LookupResult(**{**row, "entry": entry})


@dataclass(frozen=True)
class LookUp:
    """A slice of a crawl's index -> what it has of the wanted URLs in it, and redirects to follow.

    `lookups` has those of each crawl. Of what a previous run found, only the URLs that failed for
    its reasons are looked up again.
    """

    writer: StageWriter
    hops: int
    settings: LocateSettings
    access: Access
    lookups: tuple[Lookups, ...]
    previous: PreviousRun | None

    def __call__(self, index: int, task: IndexSlice) -> PartResult:
        redirects: list[Lookup] = []
        remote = self.access.remote()
        with self.writer.part(index, f"{task.crawl_rank:03d}-{index:05d}") as part:
            again = self._keep(part, redirects)
            lookups = self.lookups[task.crawl_rank]._replace(wanted=again)
            server = self.access.settings.index_server
            reader = IndexReader(remote, self.access.connections, lookups, server)
            for result in self._results(task, reader, redirects):
                _write(part, result)
            for redirect in sorted(redirects):
                part.write(redirect)
        part.costs.update(remote.costs)
        return part.result()

    def _results(
        self, task: IndexSlice, reader: IndexReader, redirects: list[Lookup]
    ) -> Iterator[LookupResult]:
        """The results of the slice; redirects are added to `redirects`."""
        date = parse_date(self.settings.date) if self.settings.date else None
        count = self.settings.captures
        for answer in ANSWERS[self.settings.index](task, reader):
            for lookup in answer.lookups:
                yield from results_of(lookup, answer, task.crawl_rank, self.hops, date, count)
                self.writer.ticker.add(items=1, work=1)
                if self.hops == 0 and (further := redirect_of(lookup, answer, date)):
                    redirects.append(further)

    def _keep(self, part: PartWriter, redirects: list[Lookup]) -> frozenset[str] | None:
        """Keep what a previous run found; the URLs to look up again, or None for all."""
        path = self.previous.path(part.path(LookupResult)) if self.previous else None
        if self.previous is None or path is None:
            return None
        again = {r.url for r in read_results(path) if r.reason in self.previous.reasons}
        for result in read_results(path):
            if result.url not in again:
                _write(part, result)
        if earlier := self.previous.path(part.path(Lookup)):
            kept = read_records(Lookup, earlier)
            redirects += [lookup for lookup in kept if lookup.wanted not in again]
        return frozenset(again)


def _write(part: PartWriter, result: LookupResult) -> None:
    part.write(result)
    part.counts[f"lookups_{result.reason or 'usable'}"] += 1
