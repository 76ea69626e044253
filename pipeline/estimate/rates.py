"""The figures that an estimate uses: measured rates, assumptions about crawls, and prices.

Rates are of one core of an x86_64 server, Python 3.11, in CPU time, as benchmarks/estimate.md has
them (2026-11-23). They are scaled by `speed`, which is measured before an estimate: a rented
virtual core, half a real one, may take up to twice as long.
"""

import dataclasses
from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True)
class Rates:
    """What a core does per second, and how many bytes of output a unit makes."""

    dump_bytes: float = 2.7e6  # of compressed dump, cut into pages
    markup_chars: float = 1.2e6  # of articles' markup, parsed
    articles: float = 770  # parsed, however short they are
    original_bytes: float = 15e6  # of TFRecords and JSON
    wanted_pages: float = 30e3  # of articles, sorted by URL
    index_urls: float = 5e3  # looked up in a crawl's index
    live_pages: float = 450  # of 100 KB, asked of the web, unencrypted
    crawl_bytes: float = 70e6  # of compressed crawl files
    crawl_records: float = 50e3  # of which the URL is looked at
    fast_bytes: float = 35.5e6  # of HTML, by that extractor
    soup_bytes: float = 4.5e6
    trafilatura_bytes: float = 2.5e6
    text_bytes: float = 21e6  # of plain pages, as WET files have them
    text_lines: float = 200e3  # of these pages
    text_chars: float = 1.9e6  # of their text that is kept
    compared_chars: float = 3e6  # of paragraphs, held against their article and ranked
    shuffled_bytes: float = 7.8e6
    similar_chars: float = 2.5e6  # of linked paragraphs, read and held against each other
    spacy_chars: float = 90e3  # of paragraphs in which entities are recognized
    fast_chars: float = 440e3
    trained_chars: float = 1e6  # for a vocabulary
    encoded_chars: float = 5.9e6
    copied_bytes: float = 25e6  # of articles, into examples
    reported_chars: float = 6.7e6
    reported_pages: float = 80e3  # of those wanted
    model_seconds: float = 2.8  # that spaCy and its model take to load
    similar_seconds: float = 0.85  # the libraries of the similarity graph take to load
    stage_seconds: float = 0.15  # a stage takes to start
    text_seconds: float = 0.2  # the rules and the classifier of plain text take to load
    speed: float = 1.0  # of this machine's core; measured before an estimate
    # and bytes
    article_share: float = 0.9  # bytes in Parquet of one in packed JSON
    wanted_row_bytes: float = 33  # with its key
    dropped_row_bytes: float = 55
    document_char_bytes: float = 0.45  # of text; packed for a shuffle about the same
    example_char_bytes: float = 0.9  # of text with ids and edges
    vocab_row_bytes: float = 40
    example_document_bytes: float = 90  # of what an example tells of a document
    wanted_shuffle_bytes: float = 210  # of a wanted page on its way into `wanted/`
    joined_shuffle_bytes: float = 450  # and on its way to its fate
    spilled_share: float = 0.5  # bytes of a temporary file per byte that is shuffled
    process_bytes: float = 0.3e9  # memory of a worker process
    spacy_bytes: float = 0.35e9  # memory of spaCy and its model
    vocab_char_bytes: float = 23  # memory per character, in training


@dataclass(frozen=True)
class Assumptions:
    """What the inputs do not show, about Common Crawl and its pages, in round figures."""

    coverage: float = 0.4  # share of wanted pages that a whole crawl has
    crawl_pages: float = 2.5e9  # records of a whole crawl
    warc_file_bytes: float = 1.0e9  # of a file whose size is not known
    wet_file_bytes: float = 0.12e9
    index_blocks: float = 0.9e6  # of a crawl's index
    index_block_bytes: float = 250e3
    record_bytes: float = 30e3  # of a page, compressed
    requests_per_page: float = 1.0
    range_bytes: float = 8e6  # of a remote file in one request
    live_coverage: float = 0.5  # share of pages without a capture that the web still has
    live_requests: float = 1.5  # a page of the web, with redirects and robots.txt
    live_seconds: float = 1.0  # such a request takes
    page_bytes: float = 100e3  # of HTML
    page_share: float = 0.8  # of pages that have kept text
    page_paragraphs: float = 20
    paragraph_chars: float = 400


@dataclass(frozen=True)
class Prices:
    """US dollars: rounded list prices of a large cloud provider in 2025; check them before use."""

    cpu_hour: float = 0.07  # a virtual core and 3.75 GB of memory
    shuffle_gb: float = 0.011
    storage_gb_month: float = 0.02
    million_requests: float = 0.40
    read_gb: float = 0.0  # nothing within a cloud's region


Figures = TypeVar("Figures", Rates, Assumptions, Prices)
NAMES = [f.name for kind in (Rates, Assumptions, Prices) for f in dataclasses.fields(kind)]
_SHARES = ("coverage", "live_coverage", "page_share")


def with_values(figures: Figures, value_by_name: dict[str, float]) -> Figures:
    """The figures with the given values instead; names of other groups are ignored.

    Raises ValueError for a value that is out of range.
    """
    own = {f.name for f in dataclasses.fields(figures)}
    for name in own & value_by_name.keys():
        value = value_by_name[name]
        is_free = isinstance(figures, Prices) and value == 0
        if not (is_free or 0 < value < float("inf")) or (name in _SHARES and value > 1):
            raise ValueError(f"--assume {name}={value:g} is out of range")
    return dataclasses.replace(figures, **{n: v for n, v in value_by_name.items() if n in own})
