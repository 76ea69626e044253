"""Lookup results of all crawls -> `captures/`: the best of each URL, grouped by WARC file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import apache_beam as beam

from wikisum.crawl.index.cdx import Entry, parse_date, preference
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.run import count
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.join import pack, unpack
from wikisum.pipeline.locate.look_up import LookupResult, read_results
from wikisum.pipeline.options import LocateSettings
from wikisum.pipeline.records import Capture, Dropped

STAGE = "locate"
URLS_A_BUCKET = 2048
HELD_ROWS = 1 << 14
WINDOW_BYTES = 16 << 20

Keyed = tuple[int, bytes]


def choose(
    url: str, candidates: list[LookupResult], settings: LocateSettings
) -> list[Capture] | Dropped:
    """The captures to try for a page, the best first, or why there is none.

    A crawl named earlier comes first, then what needs no redirect, HTML, newest or nearest date.
    """
    date = parse_date(settings.date) if settings.date else None
    usable = sorted(
        ((c.crawl_rank, c.hops, preference(c.entry, date)), c)
        for c in candidates
        if c.entry is not None and c.reason is None
    )
    places: dict[tuple[str, int], LookupResult] = {}
    for _, candidate in usable:
        entry = candidate.entry
        if entry is not None:
            places.setdefault((entry.filename, entry.offset), candidate)
    if places:
        best = list(places.values())[: settings.captures]
        return [_capture(url, c, settings.crawls, choice) for choice, c in enumerate(best)]
    return _missing(url, candidates, settings.crawls)


def _capture(url: str, candidate: LookupResult, crawls: tuple[str, ...], choice: int) -> Capture:
    entry = candidate.entry
    assert entry is not None
    return Capture(
        url,
        entry.url,
        crawls[candidate.crawl_rank],
        entry.filename,
        entry.offset,
        entry.length,
        entry.digest,
        entry.mime,
        entry.status,
        entry.timestamp,
        choice,
    )


def _missing(url: str, candidates: list[LookupResult], crawls: tuple[str, ...]) -> Dropped:
    """What the crawls say of a page that none of them has; the row names what was nearest to it."""
    nearest = min(candidates, key=lambda c: (c.crawl_rank, -c.hops, c.reason or ""), default=None)
    told = {
        c.crawl_rank: c.reason for c in sorted(candidates, key=lambda c: (c.hops, c.reason or ""))
    }
    detail = ", ".join(
        f"{crawl}: {told.get(place, 'not_in_crawl')}" for place, crawl in enumerate(crawls)
    )
    if nearest is None:
        return Dropped("record", None, url, STAGE, "not_in_crawl", detail=detail)
    file, offset = (nearest.entry.filename, nearest.entry.offset) if nearest.entry else (None, None)
    reason = nearest.reason or "not_in_crawl"
    return Dropped("record", None, url, STAGE, reason, file, offset, detail)


def packed_by(rows: Iterable[tuple[int, object]], most: int = HELD_ROWS) -> Iterator[Keyed]:
    """(key, packed list of its rows): many rows in one, so that a shuffle holds little of each.

    Of at most so many rows at a time those with the same key come together.
    """
    held: dict[int, list[object]] = {}
    count = 0
    for key, row in rows:
        held.setdefault(key, []).append(row)
        count += 1
        if count == most:
            yield from ((k, pack(some)) for k, some in held.items())
            held, count = {}, 0
    yield from ((k, pack(some)) for k, some in held.items())


@dataclass(frozen=True)
class LocatePages:
    """Wanted URLs and candidates -> shards of `captures/` and dropped rows, recorded as parts.

    All captures in a window of a WARC file are in one shard, sorted by place, so that a part of the
    fetch reads neighbours together; the second choices stand behind all first ones.
    """

    writer: StageWriter
    key_paths: list[str]
    url_count: int
    candidate_paths: list[str]
    settings: LocateSettings

    def __call__(self, pipeline: beam.Pipeline, parts: Parts) -> None:
        def read(name: str, paths: list[str], function: object) -> Any:
            return (
                pipeline
                | f"Paths of {name}" >> beam.Create(paths, reshuffle=False)
                | f"Spread {name}" >> beam.Reshuffle()
                | f"Read {name}" >> beam.FlatMap(function)
            )

        rows = (
            {
                "urls": read("URLs", self.key_paths, self._read_urls),
                "candidates": read("candidates", self.candidate_paths, self._read_results),
            }
            | "By URL" >> beam.CoGroupByKey()
            | "Choose" >> beam.FlatMap(self._choose)
        )
        every = pipeline | beam.Create([(i, b"") for i in range(self.writer.part_count)])
        _ = (
            (rows, every)
            | beam.Flatten()
            | "By WARC file" >> beam.GroupByKey()
            | "Write captures" >> beam.Map(self._write, parts)
        )

    def _bucket(self, url: str) -> int:
        return crc32(url.encode()) % max(1, self.url_count // URLS_A_BUCKET)

    def _read_urls(self, path: str) -> Iterator[Keyed]:
        urls = (row["wanted"] for row in read_rows(path, ["wanted"]))
        yield from packed_by((self._bucket(url), url) for url in urls)

    def _read_results(self, path: str) -> Iterator[Keyed]:
        yield from packed_by((self._bucket(c.url), c) for c in read_results(path))

    def _choose(self, element: tuple[int, dict[str, Iterable[bytes]]]) -> Iterator[Keyed]:
        _, groups = element
        by_url: dict[str, list[LookupResult]] = {}
        for packed in groups["urls"]:
            by_url.update((url, []) for url in unpack(packed))
        for packed in groups["candidates"]:
            for plain in unpack(packed):
                found = LookupResult(*plain)
                entry = Entry(*found.entry) if found.entry else None
                by_url[found.url].append(found._replace(entry=entry))
        yield from packed_by(
            row for url, candidates in by_url.items() for row in self._rows(url, candidates)
        )

    def _rows(self, url: str, candidates: list[LookupResult]) -> Iterator[tuple[int, list[object]]]:
        """(part, [kind, columns]) of what becomes of a URL."""
        chosen = choose(url, candidates, self.settings)
        together = url
        if isinstance(chosen, list):
            together = f"{chosen[0].offset // WINDOW_BYTES} {chosen[0].warc_file}"
        part = crc32(together.encode()) % self.writer.part_count
        for row in [chosen] if isinstance(chosen, Dropped) else chosen:
            yield part, [type(row).__name__, *row]

    def _write(self, element: tuple[int, Iterable[bytes]], parts: Parts) -> None:
        index, packed = element
        rows = [row for data in packed if data for row in unpack(data)]
        located = [Capture(*row) for kind, *row in rows if kind == "Capture"]
        missing = [Dropped(*row) for kind, *row in rows if kind == "Dropped"]
        with self.writer.part(index) as part:
            for capture in sorted(located, key=fetch_order):
                part.write(capture)
                if capture.choice == 0:
                    part.counts["urls_located"] += 1
                    part.counts["bytes_to_fetch"] += capture.length
            for row in sorted(missing, key=lambda row: row.url or ""):
                part.drop_row(row)
            part.counts["urls_in"] = part.counts["urls_located"] + len(missing)
        result = part.result()
        parts.record(index, result)
        count(STAGE, result.counts)


def fetch_order(capture: Capture) -> tuple[int, str, int, str]:
    """First choices first, then by place in the crawl."""
    return capture.choice, capture.warc_file, capture.offset, capture.url
