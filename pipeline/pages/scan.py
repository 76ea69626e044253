"""Crawl files -> `documents/`: each record is read by one worker, the wanted pages are kept."""

from collections.abc import Iterator
from dataclasses import dataclass

from wikisum.crawl.url_filter import UrlFilter
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.pages.crawl_files import may_hold
from wikisum.pipeline.pages.document import make_document
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.pages.read_records import read_records
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Document, Dropped
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.url_filter import is_wanted, load_filter


@dataclass(frozen=True)
class ScanFiles:
    """Shares of WARC, ARC or WET files -> one shard of `documents/` and one of `dropped/`.

    Files that have no wanted page by their metadata in the folder `wet_metadata` are skipped.
    """

    writer: StageWriter
    settings: PageSettings
    filter_path: str
    filter_fingerprint: str
    wet_metadata: str | None
    access: Access

    def __call__(self, index: int, shares: list[FileShare]) -> PartResult:
        keys = load_filter(self.filter_path, self.filter_fingerprint)
        with self.writer.part(index) as part:
            for share in shares:
                if self.wet_metadata and not may_hold(keys, self.wet_metadata, share.file.name):
                    part.counts["files_skipped"] += share.first == 0
                    part.ticker.add(work=share.size_bytes)
                    continue
                for result in self._results(share, keys, part):
                    part.ticker.add(items=1)
                    if isinstance(result, Document):
                        part.write(result)
                    else:
                        part.drop_row(result)
        return part.result()

    def _results(
        self, share: FileShare, keys: UrlFilter, part: PartWriter
    ) -> Iterator[Document | Dropped]:
        """The wanted pages of a share, as documents or as rows that say why there is none."""

        def wanted(url: str) -> bool:
            part.counts["records_in"] += 1
            found = is_wanted(keys, url)
            part.counts["records_not_wanted"] += not found
            return found

        settings = self.settings
        records = read_records(
            share, wanted, settings.max_page_bytes, self.access, part, settings.keep_truncated
        )
        for item in records:
            yield make_document(item, share.file.name, part.stage, self.settings, part.counts)
