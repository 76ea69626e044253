"""CPU time of each step that a page goes through in a scan, and of the loops of others."""

import io
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trafilatura
from bs4 import BeautifulSoup
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from warcio.archiveiterator import ArchiveIterator

from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.limits import check_markup, check_size
from wikisum.crawl.extract.main_text import fast_text
from wikisum.crawl.language import detect
from wikisum.crawl.paragraphs import drop_reason, split_long
from wikisum.crawl.url_filter import UrlFilter
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.records import DOCUMENT, Document
from wikisum.pipeline.wanted.url_filter import is_wanted, load_filter

LANGUAGE = "en"


class Clock:
    """CPU seconds by name."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds[name] += time.process_time() - start


def step_seconds(crawl: bytes, filter_path: str) -> dict[str, float]:
    """CPU seconds of each step over a crawl file, page by page as a scan takes them."""
    clock = Clock()
    keys = load_filter(filter_path, "benchmark")
    records = read_captures(io.BytesIO(crawl))
    documents = []
    while True:
        with clock("read, decompress"):
            page = next(records, None)
        if page is None:
            break
        assert isinstance(page, PageRecord)
        documents.append(_document(page, keys, clock))
    with tempfile.TemporaryDirectory() as folder, clock("write Parquet"):  # noqa: SIM117
        with open_shard(folder, "documents.parquet", DOCUMENT, {}) as writer:
            for document in filter(lambda d: d.paragraphs, documents):
                writer.write(document)
    return dict(clock.seconds)


def _document(page: PageRecord, keys: UrlFilter, clock: Clock) -> Document:
    """What `make_document` does, step by step."""
    with clock("URL form, key, filter"):
        assert is_wanted(keys, page.url)
        url = canonical_url(page.url)
    with clock("charset"):
        check_size(page.payload)
        html = to_utf8(page.payload, page.charset)
    with clock("bounds of the markup"):
        check_markup(html)
    with clock("parse, extract"):
        title, texts = fast_text(html)
    with clock("language"):
        language = detect("\n".join(texts))
    with clock("paragraph filter"):
        pieces = [piece for text in texts for piece in split_long(text)]
        kept = [piece for piece in pieces if drop_reason(piece, LANGUAGE) is None]
    where = (page.offset, page.length, page.digest, page.fetched_at)
    return Document(url, page.url, title, kept, language, "benchmark", *where)


def with_soup(crawl: bytes, wanted: set[str]) -> Iterator[str]:
    for record in ArchiveIterator(io.BytesIO(crawl)):
        if record.rec_type == "response":
            url = record.rec_headers.get_header("WARC-Target-URI")
            if url in wanted:
                yield BeautifulSoup(record.content_stream().read(), "lxml").get_text("\n")


def with_trafilatura(crawl: bytes, wanted: set[str]) -> Iterator[str]:
    for record in ArchiveIterator(io.BytesIO(crawl)):
        if record.rec_type == "response":
            url = record.rec_headers.get_header("WARC-Target-URI")
            if url in wanted:
                yield trafilatura.extract(record.content_stream().read(), fast=True) or ""


def with_resiliparse(crawl: bytes, wanted: set[str]) -> Iterator[str]:
    for record in FastIterator(io.BytesIO(crawl), record_types=WarcRecordType.response):
        if record.headers["WARC-Target-URI"] in wanted:
            html = record.reader.read()
            text = bytes_to_str(html, detect_encoding(html))
            yield extract_plain_text(text, main_content=True)


LOOPS: dict[str, Callable[[bytes, set[str]], Iterator[str]]] = {
    "warcio, BeautifulSoup with lxml, all text": with_soup,
    "warcio, trafilatura, main text": with_trafilatura,
    "fastwarc, resiliparse, main text": with_resiliparse,
}


def loop_seconds(name: str, crawl: bytes, wanted: set[str]) -> float:
    """CPU seconds of one of the loops over a crawl file; nothing is written."""
    start = time.process_time()
    for _ in LOOPS[name](crawl, wanted):
        pass
    return time.process_time() - start
