"""Crawl files -> `documents/`: each record is read by one worker, the wanted pages are kept."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from wikisum.crawl.url_filter import UrlFilter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import PageSettings
from wikisum.pipeline.pages.crawl_files import may_hold
from wikisum.pipeline.pages.document import make_document
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.pages.read_records import read_records
from wikisum.pipeline.records import DOCUMENT, DROPPED, Document, Dropped
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.url_filter import is_wanted, load_filter


@dataclass(frozen=True)
class ScanFiles:
    """Shares of WARC, ARC or WET files -> one shard of `documents/` and one of `dropped/`.

    Files that hold no wanted page by their metadata in the folder `wet_metadata` are passed over.
    """

    out: str
    stage: str
    part_count: int
    settings: PageSettings
    filter_path: str
    filter_fingerprint: str
    wet_metadata: str | None
    access: Access
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        name = f"{index:05d}-of-{self.part_count:05d}.parquet"
        counts: Counter[str] = Counter()
        effort: Counter[str] = Counter()
        keys = load_filter(self.filter_path, self.filter_fingerprint)
        documents = ShardWriter(
            self.out, f"documents/documents-{self.stage}-{name}", DOCUMENT, self.metadata
        )
        dropped = ShardWriter(
            self.out, f"dropped/dropped-{self.stage}-{name}", DROPPED, self.metadata
        )
        with documents, dropped:
            for share in shares:
                if self.wet_metadata and not may_hold(keys, self.wet_metadata, share.file.name):
                    counts["files_skipped"] += share.first == 0
                    self.ticker.add(work=share.size_bytes)
                    continue
                for result in self._results(share, keys, counts, effort):
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
        self, share: FileShare, keys: UrlFilter, counts: Counter[str], effort: Counter[str]
    ) -> Iterator[Document | Dropped]:
        """The wanted pages of a share, as documents or as why they are none."""

        def wanted(url: str) -> bool:
            counts["records_in"] += 1
            found = is_wanted(keys, url)
            counts["records_not_wanted"] += not found
            return found

        most_bytes = self.settings.max_page_bytes
        for item in read_records(share, wanted, most_bytes, self.access, self.ticker, effort):
            yield make_document(item, share.file.name, self.stage, self.settings, counts)
