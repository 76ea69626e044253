"""WARC files -> `documents/`: each file is read once, by one worker, keeping the wanted pages."""

from collections import Counter
from dataclasses import dataclass

from pipeline.crawl_files import may_hold
from pipeline.crawl_records import read_records
from pipeline.files import InputFile
from pipeline.filter_urls import is_wanted, load_filter
from pipeline.make_document import make_document
from pipeline.options import ScanSettings
from pipeline.progress import Ticker
from pipeline.records import DOCUMENT, DROPPED, Document
from pipeline.remote import Access
from pipeline.shards import ShardWriter
from pipeline.workspace import PartResult

STAGE = "scan"


@dataclass(frozen=True)
class ScanFile:
    """One WARC, ARC or WET file -> one shard of `documents/` and one of `dropped/`.

    None of them for a file that holds no wanted page by its metadata in the folder `wet_metadata`.
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

    def __call__(self, index: int, file: InputFile) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        counts: Counter[str] = Counter()
        effort: Counter[str] = Counter()
        keys = load_filter(self.filter_path, self.filter_fingerprint)
        if self.wet_metadata is not None and not may_hold(keys, self.wet_metadata, file.name):
            self.ticker.add(work=file.size_bytes)
            self.ticker.flush()
            return PartResult(counts={"files_skipped": 1})
        documents = ShardWriter(
            self.out, f"documents/documents-scan-{name}", DOCUMENT, self.metadata
        )
        dropped = ShardWriter(self.out, f"dropped/dropped-scan-{name}", DROPPED, self.metadata)

        def wanted(url: str) -> bool:
            counts["records_in"] += 1
            found = is_wanted(keys, url)
            counts["records_not_wanted"] += not found
            return found

        records = read_records(
            file, wanted, self.settings.max_page_bytes, self.access, self.ticker, effort
        )
        with documents, dropped:
            for item in records:
                result = make_document(item, file.name, STAGE, self.settings, counts)
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
