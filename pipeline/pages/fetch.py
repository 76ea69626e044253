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
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.retry import PreviousRun
from wikisum.pipeline.engine.shards import read_records
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.pages.document import make_document
from wikisum.pipeline.pages.fetched_before import Fetched, FetchedBefore
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Capture, Document, Dropped
from wikisum.pipeline.remote.access import Access, Remote
from wikisum.pipeline.remote.spans import read_spans

# a capture, what came of it, and how many of its paragraphs had which fate
Outcome = tuple[Capture, Document | Dropped, dict[str, int]]


def _span(capture: Capture) -> Span:
    return Span(capture.warc_file, capture.offset, capture.length)


def _document(
    capture: Capture, data: bytes | BadAnswer, stage: str, settings: PageSettings
) -> tuple[Document | Dropped, dict[str, int]]:
    """The document of a capture's bytes, or why there is none, under the URL that is wanted."""
    url, offset = capture.source_url, capture.offset
    item: warc.PageRecord | warc.Rejection
    if isinstance(data, BadAnswer):
        item = warc.Rejection(url, data.reason, offset, str(data))
    else:
        item = read_record(
            data, url, offset, capture.digest, settings.max_page_bytes, settings.keep_truncated
        )
    paragraphs: Counter[str] = Counter()
    result = make_document(item, capture.warc_file, stage, settings, paragraphs)
    return result._replace(url=capture.url), dict(paragraphs)


@dataclass(frozen=True)
class FetchShard:
    """One shard of `captures/` -> one of `documents/` and one of `dropped/`, in the same order.

    A page's second choice is tried if the first gave no document. What a previous run fetched is
    not fetched again, and comes out as if it had been.
    """

    writer: StageWriter
    settings: PageSettings
    access: Access
    previous: PreviousRun | None

    def __call__(self, index: int, path: str) -> PartResult:
        failed: set[str] = set()
        remote = self.access.remote()
        with self.writer.part(index) as part:
            before = FetchedBefore(self.previous, part)
            for choice, same in groupby(read_records(Capture, path), key=lambda c: c.choice):
                untried = (c for c in same if choice == 0 or c.url in failed)
                for capture, result, paragraphs in self._outcomes(untried, before, remote):
                    part.counts.update(paragraphs, captures_in=1)
                    text = json.dumps(paragraphs, sort_keys=True)
                    part.write(Fetched(capture.url, capture.warc_file, capture.offset, text))
                    if isinstance(result, Document):
                        part.write(result)
                        failed.discard(capture.url)
                    else:
                        part.drop_row(result)
                        failed.add(capture.url)
                    part.ticker.add(items=1, work=capture.length)
        part.costs.update(remote.costs)
        return part.result()

    def _outcomes(
        self, captures: Iterable[Capture], before: FetchedBefore, remote: Remote
    ) -> Iterator[Outcome]:
        """What comes of each capture, in order: known from a previous run, or fetched."""
        waiting: deque[Capture] = deque()

        def unknown() -> Iterator[Capture]:
            for capture in captures:
                waiting.append(capture)
                if not before.has(capture):
                    yield capture

        max_bytes = self.settings.max_page_bytes
        fetched = read_spans(remote, self.access.connections, unknown(), _span, max_bytes)
        for capture, data in fetched:
            while (known := waiting.popleft()) is not capture:
                yield known, *before.outcome(known)
            yield capture, *_document(capture, data, self.writer.stage.name, self.settings)
        for known in waiting:
            yield known, *before.outcome(known)
