"""`captures/` -> `documents/`: ranged reads of WARC files, each shard of captures by one worker."""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from crawl import warc
from crawl.errors import BadAnswer
from crawl.one_record import read_record
from crawl.ranges import Span
from pipeline.locate_pages import located_captures
from pipeline.make_document import make_document
from pipeline.options import ScanSettings
from pipeline.progress import Ticker
from pipeline.read_spans import read_spans
from pipeline.records import DOCUMENT, DROPPED, Capture, Document, Dropped
from pipeline.remote import Access
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult

STAGE = "fetch"


def _span(capture: Capture) -> Span:
    return Span(capture.warc_file, capture.offset, capture.length)


@dataclass(frozen=True)
class FetchShard:
    """One shard of `captures/` -> one of `documents/` and one of `dropped/`, in the same order.

    A page's second choice is fetched if the first gave no document.
    """

    out: str
    part_count: int
    settings: ScanSettings
    access: Access
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, path: str) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        counts: Counter[str] = Counter()
        remote = self.access.remote()
        documents = ShardWriter(
            self.out, f"documents/documents-fetch-{name}", DOCUMENT, self.metadata
        )
        dropped = ShardWriter(self.out, f"dropped/dropped-fetch-{name}", DROPPED, self.metadata)
        failed: set[str] = set()
        most = self.settings.max_page_bytes
        with documents, dropped:
            for choice, same in groupby(located_captures(self.out, path), lambda c: c.choice):
                untried = (c for c in same if choice == 0 or c.url in failed)
                for capture, data in read_spans(
                    remote, self.access.connections, untried, _span, most
                ):
                    result = self._document(capture, data, counts)
                    counts["captures_in"] += 1
                    if isinstance(result, Document):
                        counts["documents_out"] += 1
                        documents.write(result)
                        failed.discard(capture.url)
                    else:
                        counts[f"dropped_{result.reason}"] += 1
                        dropped.write(result)
                        failed.add(capture.url)
                    self.ticker.add(items=1, work=capture.length)
        self.ticker.flush()
        written = [f for w in (documents, dropped) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(remote.effort))

    def _document(
        self, capture: Capture, data: bytes | BadAnswer, counts: Counter[str]
    ) -> Document | Dropped:
        url, file, offset = capture.source_url, capture.warc_file, capture.offset
        if isinstance(data, BadAnswer):
            item: warc.Capture | warc.Rejected = warc.Rejected(url, data.reason, offset, str(data))
        else:
            most = self.settings.max_page_bytes
            item = read_record(data, url, offset, capture.digest, most)
        return make_document(item, file, STAGE, self.settings, counts)._replace(url=capture.url)
