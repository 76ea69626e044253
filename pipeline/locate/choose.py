"""Look-up results of all crawls -> the best captures of each URL: a Beam transform, and the stage.

`ChooseCaptures` takes and gives records, so it works in any pipeline::

    found = {
        "urls": pipeline | "URLs" >> beam.Create(["http://a.org/"]),
        "results": pipeline | "Results" >> beam.Create([LookupResult(...)]),
    } | ChooseCaptures(LocateSettings(crawls=("CC-MAIN-2024-10",)))
    found["captures"] | beam.Map(lambda captures: captures[0].warc_file) | beam.Map(print)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

import apache_beam as beam

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.packed import unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.joins.cluster import JoinRanges
from wikisum.pipeline.joins.flow import Flow, Groups, Named, Placed, Source, Step, Target, placed_by
from wikisum.pipeline.locate.best_capture import (
    LookupResult,
    best_captures,
    fetch_order,
)
from wikisum.pipeline.locate.look_up import read_results
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.records import Capture, Dropped, column_order

WINDOW_BYTES = 16 << 20


class ChooseCaptures(beam.PTransform):
    """Choose the captures to fetch for each URL.

    {"urls": PCollection[str], "results": PCollection[LookupResult]} ->
    {"captures": PCollection[list[Capture]], "dropped": PCollection[Dropped]}

    The captures of a URL are in the order in which they are to be tried. URLs are joined by
    `bucket_count` hashes of them, for a shuffle costs more per element than these small records.
    """

    def __init__(self, settings: LocateSettings, *, bucket_count: int = 64) -> None:
        super().__init__()
        self._settings, self._bucket_count = settings, bucket_count

    def expand(self, records: Any) -> Any:
        return records | JoinRanges(choose_step(self._settings, self._bucket_count))


def choose_step(settings: LocateSettings, range_count: int) -> Step:
    """URLs and look-up results by ranges of URLs -> the captures of each URL."""

    return Step(
        label="choose",
        count=range_count,
        takes={
            "urls": placed_by(url_key, range_count),
            "results": placed_by(lambda result: url_key(result.url), range_count),
        },
        gives=("captures", "dropped"),
        join=partial(_choose, settings),
    )


def _choose(settings: LocateSettings, groups: Groups) -> Iterator[Named]:
    by_url: dict[str, list[LookupResult]] = {unpack(data, str): [] for data in groups["urls"]}
    for data in groups["results"]:
        result = unpack(data, LookupResult)
        by_url.setdefault(result.url, []).append(result)
    for url, results in by_url.items():
        chosen = best_captures(url, results, settings)
        yield ("dropped" if isinstance(chosen, Dropped) else "captures"), chosen


def read_urls(path: str) -> Iterator[Named]:
    """Yield the `urls` of a file of look-ups."""
    return (("urls", row["wanted"]) for row in read_rows(path, ["wanted"]))


def read_found(path: str) -> Iterator[Named]:
    """Yield the look-up `results` in a file."""
    return (("results", result) for result in read_results(path))


@dataclass(frozen=True, kw_only=True)
class LocatePages:
    """Wanted URLs and look-up results -> shards of `captures/` and dropped rows.

    All captures in a window of a WARC file are in one shard, sorted by offset, so that a part of
    the fetch reads neighbors together. Second choices go with the first choice of their URL.
    """

    writer: StageWriter
    key_paths: list[str]
    result_paths: list[str]
    settings: LocateSettings

    def flow(self, range_count: int) -> Flow:
        """The join by URLs in a number of ranges, and the shards of captures."""
        return Flow(
            sources=(
                Source("urls", self.key_paths, ("urls",), read_urls),
                Source("results", self.result_paths, ("results",), read_found),
            ),
            steps=(choose_step(self.settings, range_count),),
            target=Target(
                part_count=self.writer.part_count,
                takes={"captures": self._with_parts, "dropped": self._dropped_part},
                types={
                    "captures": RowType(Capture, fetch_order),
                    "dropped": RowType(Dropped, column_order),
                },
                write=self.write,
            ),
        )

    def _dropped_part(self, row: Dropped) -> Iterator[Placed]:
        yield self._part(row.url or ""), row

    def _with_parts(self, captures: list[Capture]) -> Iterator[tuple[int, Capture]]:
        first = captures[0]
        part = self._part(f"{first.offset // WINDOW_BYTES} {first.warc_file}")
        return ((part, capture) for capture in captures)

    def _part(self, text: str) -> int:
        return crc32(text.encode()) % self.writer.part_count

    def write(self, index: int, rows: dict[str, Iterator[Any]]) -> PartResult:
        """Write a shard of `captures/` and its dropped rows."""
        with self.writer.part(index) as part:
            for capture in rows["captures"]:
                part.write(capture)
                if capture.choice == 0:
                    part.counts["urls_located"] += 1
                    part.counts["bytes_to_fetch"] += capture.length
            missing = list(rows["dropped"])
            for row in missing:
                part.drop_row(row)
            part.counts["urls_in"] = part.counts["urls_located"] + len(missing)
        return part.result()
