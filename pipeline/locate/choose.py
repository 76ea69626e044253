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
from typing import Any
from zlib import crc32

import apache_beam as beam

from wikisum.pipeline.engine.packed import unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import (
    GroupPacked,
    ReadFiles,
    RowType,
    SplitByName,
    WriteParts,
)
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.locate.best_capture import (
    STAGE,
    LookupResult,
    best_captures,
    fetch_order,
)
from wikisum.pipeline.locate.look_up import read_results
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.records import Capture, Dropped, column_order

URLS_PER_BUCKET = 2048
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
        return (
            {
                "urls": records["urls"] | "Buckets of URLs" >> beam.WithKeys(self._bucket),
                "results": records["results"]
                | "Buckets of results" >> beam.WithKeys(lambda result: self._bucket(result.url)),
            }
            | GroupPacked()
            | "Choose" >> beam.FlatMap(self._choose)
            | SplitByName("captures", "dropped")
        )

    def _bucket(self, url: str) -> int:
        return crc32(url.encode()) % self._bucket_count

    def _choose(self, element: tuple[int, dict[str, list[bytes]]]) -> Iterator[tuple[str, Any]]:
        _, groups = element
        by_url: dict[str, list[LookupResult]] = {unpack(data, str): [] for data in groups["urls"]}
        for data in groups["results"]:
            result = unpack(data, LookupResult)
            by_url.setdefault(result.url, []).append(result)
        for url, results in by_url.items():
            chosen = best_captures(url, results, self._settings)
            yield ("dropped" if isinstance(chosen, Dropped) else "captures"), chosen


def read_urls(path: str) -> Iterator[str]:
    """Yield the URLs of a file of look-ups."""
    return (row["wanted"] for row in read_rows(path, ["wanted"]))


@dataclass(frozen=True, kw_only=True)
class LocatePages:
    """Wanted URLs and look-up results -> shards of `captures/` and dropped rows, as parts.

    All captures in a window of a WARC file are in one shard, sorted by offset, so that a part of
    the fetch reads neighbors together. Second choices go with the first choice of their URL.
    """

    writer: StageWriter
    key_paths: list[str]
    url_count: int
    result_paths: list[str]
    settings: LocateSettings

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        bucket_count = max(1, self.url_count // URLS_PER_BUCKET)
        chosen = {
            "urls": pipeline | "URLs" >> ReadFiles(self.key_paths, read=read_urls),
            "results": pipeline | "Results" >> ReadFiles(self.result_paths, read=read_results),
        } | ChooseCaptures(self.settings, bucket_count=bucket_count)
        _ = {
            "captures": chosen["captures"] | "Parts" >> beam.FlatMap(self._with_parts),
            "dropped": chosen["dropped"]
            | "Parts of dropped" >> beam.WithKeys(lambda row: self._part(row.url or "")),
        } | WriteParts(
            {"captures": RowType(Capture, fetch_order), "dropped": RowType(Dropped, column_order)},
            stage=STAGE,
            indexes=pending,
            write=self.write,
            parts=parts,
        )

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
