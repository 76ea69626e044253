"""The folder of fetched pages: numbered WARC segments, and a log of outcomes beside each."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardFile, open_shard, read_records, row_count
from wikisum.pipeline.live.archive import Segment, read_outcomes, rescue
from wikisum.pipeline.live.fetcher import PageResult
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import OUTCOME, Outcome

FOLDER = "live"
_PART = re.compile(r"\.live-(\d{5,})\.warc\.gz\.part")
_SEGMENT = re.compile(r"live-(\d{5,})\.warc\.gz")
_LOG = re.compile(r"log-(\d{5,})\.parquet")


def recover(out: str) -> int:
    """Finish what a killed run left in the folder; return the number of the next segment.

    A log whose segment is missing is deleted, so that its pages are fetched again.
    """
    folder = files.join(out, FOLDER)
    for path in files.list_folder(folder):
        if found := _PART.fullmatch(os.path.basename(path)):
            rescue(files.join(folder, _segment(int(found[1]))))
    numbers = []
    for path in files.list_folder(folder):
        found = _LOG.fullmatch(os.path.basename(path))
        if found and not files.exists(files.join(folder, _segment(int(found[1])))):
            files.delete(path)
        if found := _SEGMENT.fullmatch(os.path.basename(path)):
            numbers.append(int(found[1]))
            if not files.exists(files.join(folder, _log(int(found[1])))):
                with open(path, "rb") as raw:
                    _write_log(out, int(found[1]), [row for row, _ in read_outcomes(raw)])
    return max(numbers, default=-1) + 1


def read_logs(folder: str) -> Iterator[Outcome]:
    """The outcomes of all runs, in order; the last one of a page counts."""
    for path in files.list_folder(folder):
        if os.path.basename(path).startswith("log-"):
            yield from read_records(Outcome, path)


def _segment(number: int) -> str:
    return f"live-{number:05d}.warc.gz"


def _log(number: int) -> str:
    return f"log-{number:05d}.parquet"


def _write_log(out: str, number: int, outcomes: Iterable[Outcome]) -> None:
    with open_shard(out, f"{FOLDER}/{_log(number)}", OUTCOME, {}) as log:
        for outcome in outcomes:
            log.write(outcome)


class Segments:
    """Writes pages to one segment after the other, each opened when its first page comes."""

    def __init__(self, out: str, number: int, settings: LiveSettings, ticker: Ticker) -> None:
        self._out = out
        self._number = number
        self._settings = settings
        self._ticker = ticker
        self._open: Segment | None = None

    def write(self, fetched: PageResult) -> None:
        if self._open is None:
            path = files.join(self._out, FOLDER, _segment(self._number))
            self._open = Segment(path, self._settings)
        self._open.write(fetched.hops, fetched.outcome._replace(file=_segment(self._number)))
        self._ticker.add(items=1, work=1)
        if self._open.size_bytes >= self._settings.segment_bytes:
            self.close()

    def close(self) -> None:
        """Finish the segment, then write its log: a segment without a log can be given one."""
        if self._open is not None:
            segment, self._open = self._open, None
            segment.close()
            if segment.outcomes:
                _write_log(self._out, self._number, segment.outcomes)
            self._number += 1
        self._ticker.flush()


def finished_files(out: str) -> list[ShardFile]:
    """The entries of the segments and logs of all runs."""
    paths = files.list_folder(files.join(out, FOLDER))
    names = [os.path.basename(p) for p in paths]
    return [_shard_file(out, f"{FOLDER}/{n}") for n in names if not n.startswith(".")]


def _shard_file(out: str, path: str) -> ShardFile:
    """The entry of a finished file; rows are counted in Parquet files only."""
    whole = files.join(out, path)
    with open(whole, "rb") as raw:
        digest = hashlib.file_digest(raw, "sha256").hexdigest()
    rows = row_count(whole) if path.endswith(".parquet") else 0
    return ShardFile(path, rows, os.path.getsize(whole), digest)
