"""A sample of crawl files, read in seconds, for an estimate: records, and sizes of pages."""

import re
from collections import Counter
from collections.abc import Set
from typing import Any, BinaryIO, cast

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.urls import canonical_url, url_key
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.estimate.prefix import Prefix
from wikisum.pipeline.estimate.rates import Assumptions
from wikisum.pipeline.estimate.volumes import MIN_MATCHES, CrawlSample, PageSample
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.pages.document import make_document
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Document
from wikisum.pipeline.remote.access import Access, is_http
from wikisum.pipeline.remote.stream import RemoteFile
from wikisum.pipeline.setting import ANY_LANGUAGE, Settings

FILES = 3
PLACES = 4  # in each of them, if it is large
BYTES_PER_PLACE = 4 << 20
DENSE_PAGES = 512  # all of so many pages at an offset are read, then fewer and fewer
_WET = re.compile(r"\.wet\b")


class _Sampled:
    """Sums over the sampled records; wanted pages are counted apart from others."""

    def __init__(self, keys: Set[int], settings: Settings) -> None:
        self._keys = keys
        self._settings = settings
        self.read_bytes = 0
        self.records = 0
        self.matches = 0
        self.pages = {True: Counter[str](), False: Counter[str]()}
        self._is_match = False
        self._asked: Counter[bool] = Counter()

    def wants(self, url: str) -> bool:
        """Whether the record of this URL is to be read as a page."""
        self.records += 1
        try:
            self._is_match = url_key(canonical_url(url)) in self._keys
        except BadUrl:
            return False
        self.matches += self._is_match
        number = self._asked[self._is_match]
        self._asked[self._is_match] += 1
        return number % (1 + number // DENSE_PAGES) == 0

    def read(self, raw: Any, max_bytes: int) -> None:
        """Read up to `max_bytes` from the current offset of a file."""
        self._asked.clear()
        prefix = Prefix(raw, max_bytes)
        stream = cast(BinaryIO, prefix)
        for item in read_captures(stream, self.wants, self._settings[PageSettings].max_page_bytes):
            if isinstance(item, PageRecord) or item.url is not None:
                self._add(item)
        self.read_bytes += prefix.read_bytes

    def _add(self, item: Any) -> None:
        seen = self.pages[self._is_match]
        seen["pages"] += 1
        if not isinstance(item, PageRecord):
            return
        seen["html"] += item.kind == "html"
        seen["bytes"] += len(item.payload)
        if item.kind != "html":
            seen["text_lines"] += item.payload.count(b"\n")
        made = make_document(item, "", "estimate", self._settings[PageSettings], Counter())
        if isinstance(made, Document):
            own = self._settings[ExampleSettings].language
            seen["documents"] += 1
            seen["own_language"] += made.language is None or own in (ANY_LANGUAGE, made.language)
            seen["paragraphs"] += len(made.paragraphs)
            chars = sum(map(len, made.paragraphs))
            seen["chars"] += chars
            seen["text_chars"] += 0 if item.kind == "html" else chars


def sample_pages(
    warcs: list[InputFile],
    keys: Set[int],
    settings: Settings,
    access: Access,
    assumed: Assumptions,
) -> CrawlSample:
    """Sample a few of the files at several offsets; `keys` are those of the wanted URLs.

    Only the beginning is read of files on a web server and of files of unknown size.
    """
    sampled = _Sampled(keys, settings)
    for place in range(min(FILES, len(warcs))):
        file = warcs[place * len(warcs) // min(FILES, len(warcs))]
        if is_http(file.path):
            with RemoteFile(access.remote(), file.name) as stream:
                sampled.read(stream, PLACES * BYTES_PER_PLACE)
        else:
            with files.open_input(file.path) as raw:
                for start, end in _places(file.size_bytes):
                    raw.seek(start)
                    sampled.read(raw, end - start)
    seen = sampled.pages[sampled.pages[True]["pages"] >= MIN_MATCHES]
    return CrawlSample(
        files=len(warcs),
        remote_files=sum(files.is_remote(file.path) for file in warcs),
        read_bytes=sampled.read_bytes,
        total_bytes=sum(file.size_bytes or _assumed_bytes(file, assumed) for file in warcs),
        records=sampled.records,
        matches=sampled.matches,
        pages=PageSample(*(seen[name] for name in PageSample._fields)),
    )


def _places(size: int) -> list[tuple[int, int]]:
    """The ranges to read: a small file as a whole; the beginning of one of unknown size."""
    if size <= PLACES * BYTES_PER_PLACE:
        return [(0, PLACES * BYTES_PER_PLACE)]
    starts = [size * place // PLACES for place in range(PLACES)]
    return [(start, start + BYTES_PER_PLACE) for start in starts]


def _assumed_bytes(file: InputFile, assumed: Assumptions) -> float:
    return assumed.wet_file_bytes if _WET.search(file.name) else assumed.warc_file_bytes
