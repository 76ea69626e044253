"""Crawl files -> `documents/`: each file is read once, by one worker, keeping the wanted pages."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from crawl.url_filter import UrlFilter
from pipeline.crawl_files import may_hold
from pipeline.crawl_records import read_records
from pipeline.files import InputFile
from pipeline.filter_urls import is_wanted, load_filter
from pipeline.make_document import make_document
from pipeline.options import ScanSettings
from pipeline.progress import Ticker
from pipeline.records import DOCUMENT, DROPPED, Document, Dropped
from pipeline.remote import Access
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult

STAGE = "scan"
MOST_PARTS = 5_000


def groups(warcs: list[InputFile], most: int = MOST_PARTS) -> list[list[InputFile]]:
    """What each part reads: a file, or neighbours, so that there are at most so many parts.

    A whole crawl has 100,000 files; what is kept of each part, and asked of a store, would add up.
    """
    count = min(len(warcs), most)
    bounds = [len(warcs) * part // count for part in range(count + 1)] if count else [0]
    return [warcs[start:end] for start, end in pairwise(bounds)]


@dataclass(frozen=True)
class ScanFiles:
    """Some WARC, ARC or WET files -> one shard of `documents/` and one of `dropped/`.

    Files that hold no wanted page by their metadata in the folder `wet_metadata` are passed over.
    """

    out: str
    part_count: int
    settings: ScanSettings
    filter_path: str
    filter_fingerprint: str
    wet_metadata: str | None
    access: Access
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, group: list[InputFile]) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        counts: Counter[str] = Counter()
        effort: Counter[str] = Counter()
        keys = load_filter(self.filter_path, self.filter_fingerprint)
        documents = ShardWriter(
            self.out, f"documents/documents-scan-{name}", DOCUMENT, self.metadata
        )
        dropped = ShardWriter(self.out, f"dropped/dropped-scan-{name}", DROPPED, self.metadata)
        with documents, dropped:
            for file in group:
                if self.wet_metadata and not may_hold(keys, self.wet_metadata, file.name):
                    counts["files_skipped"] += 1
                    self.ticker.add(work=file.size_bytes)
                    continue
                for result in self._results(file, keys, counts, effort):
                    self.ticker.add(items=1)
                    if isinstance(result, Document):
                        counts["documents_out"] += 1
                        documents.write(result)
                    else:
                        counts[f"dropped_{result.reason}"] += 1
                        dropped.write(result)
        self.ticker.flush()
        written = [f for w in (documents, dropped) if (f := w.file)]
        return PartResult(written, dict(counts), effort=dict(effort))

    def _results(
        self, file: InputFile, keys: UrlFilter, counts: Counter[str], effort: Counter[str]
    ) -> Iterator[Document | Dropped]:
        """The wanted pages of a file, as documents or as why they are none."""

        def wanted(url: str) -> bool:
            counts["records_in"] += 1
            found = is_wanted(keys, url)
            counts["records_not_wanted"] += not found
            return found

        most_bytes = self.settings.max_page_bytes
        for item in read_records(file, wanted, most_bytes, self.access, self.ticker, effort):
            yield make_document(item, file.name, STAGE, self.settings, counts)
