"""`captures/` -> `documents/`: ranged reads of WARC files, each shard of captures by one worker."""

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.index.ranges import Span
from wikisum.crawl.warc import warc
from wikisum.crawl.warc.one_record import read_record
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.retry import Aside
from wikisum.pipeline.engine.shards import ShardWriter, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import PageSettings
from wikisum.pipeline.pages.document import make_document
from wikisum.pipeline.pages.fetched_before import FETCHED, Fetched, FetchedBefore
from wikisum.pipeline.records import DOCUMENT, DROPPED, Capture, Document, Dropped
from wikisum.pipeline.remote.access import Access, Remote
from wikisum.pipeline.remote.spans import read_spans

STAGE = "fetch"
NOTES = ".work/fetched"

Outcome = tuple[Capture, Document | Dropped, dict[str, int]]  # and fates of its paragraphs


def located_captures(path: str) -> Iterator[Capture]:
    """The captures of a shard, in the order in which they are fetched."""
    for row in read_rows(path):
        yield Capture(**row)


def _span(capture: Capture) -> Span:
    return Span(capture.warc_file, capture.offset, capture.length)


def _document(
    capture: Capture, data: bytes | BadAnswer, settings: PageSettings
) -> tuple[Document | Dropped, dict[str, int]]:
    """The document of a capture's bytes, under the URL that is wanted, or why there is none."""
    url, offset = capture.source_url, capture.offset
    item: warc.Capture | warc.Rejected
    if isinstance(data, BadAnswer):
        item = warc.Rejected(url, data.reason, offset, str(data))
    else:
        item = read_record(data, url, offset, capture.digest, settings.max_page_bytes)
    paragraphs: Counter[str] = Counter()
    made = make_document(item, capture.warc_file, STAGE, settings, paragraphs)
    return made._replace(url=capture.url), dict(paragraphs)


@dataclass(frozen=True)
class FetchShard:
    """One shard of `captures/` -> one of `documents/` and one of `dropped/`, in the same order.

    A page's second choice is tried if the first gave no document. What an earlier run set aside is
    not fetched again, and comes out as if it had been.
    """

    out: str
    part_count: int
    settings: PageSettings
    access: Access
    aside: Aside | None
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, path: str) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        paths = (f"documents/documents-fetch-{name}", f"dropped/dropped-fetch-{name}",
                 f"{NOTES}/fetched-{name}")  # fmt: skip
        documents = ShardWriter(self.out, paths[0], DOCUMENT, self.metadata)
        dropped = ShardWriter(self.out, paths[1], DROPPED, self.metadata)
        notes = ShardWriter(self.out, paths[2], FETCHED, {})
        counts: Counter[str] = Counter()
        failed: set[str] = set()
        remote = self.access.remote()
        with documents, dropped, notes:
            before = FetchedBefore(self.aside, *paths)
            captures = located_captures(path)
            for choice, same in groupby(captures, key=lambda capture: capture.choice):
                untried = (c for c in same if choice == 0 or c.url in failed)
                for capture, result, paragraphs in self._outcomes(untried, before, remote):
                    counts.update(paragraphs, captures_in=1)
                    told = json.dumps(paragraphs, sort_keys=True)
                    notes.write(Fetched(capture.url, capture.warc_file, capture.offset, told))
                    if isinstance(result, Document):
                        documents.write(result)
                        failed.discard(capture.url)
                        counts["documents_out"] += 1
                    else:
                        dropped.write(result)
                        failed.add(capture.url)
                        counts[f"dropped_{result.reason}"] += 1
                    self.ticker.add(items=1, work=capture.length)
        self.ticker.flush()
        written = [f for w in (documents, dropped, notes) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(remote.effort))

    def _outcomes(
        self, captures: Iterable[Capture], before: FetchedBefore, remote: Remote
    ) -> Iterator[Outcome]:
        """What comes of each capture, in order: known before, or fetched."""
        waiting: deque[Capture] = deque()

        def unknown() -> Iterator[Capture]:
            for capture in captures:
                waiting.append(capture)
                if not before.has(capture):
                    yield capture

        most = self.settings.max_page_bytes
        for capture, data in read_spans(remote, self.access.connections, unknown(), _span, most):
            while (known := waiting.popleft()) is not capture:
                yield known, *before.outcome(known)
            yield capture, *_document(capture, data, self.settings)
        for known in waiting:
            yield known, *before.outcome(known)
