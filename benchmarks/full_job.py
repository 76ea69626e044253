"""State what the whole of WikiSum would take, from measured rates. Nothing is built.

    python -m benchmarks.full_job [--assume NAME=VALUE ...] > benchmarks/full_job.txt

The functions and rates are those of `wikisum build --estimate`; the volumes of the job are assumed
below. Prices are those of one virtual core with 3.75 GB of memory on Google Cloud Dataflow (batch).
"""

import argparse
from dataclasses import replace

from wikisum.pipeline.estimate.estimate import Estimate, estimate
from wikisum.pipeline.estimate.machine import stage_memory
from wikisum.pipeline.estimate.rates import Assumptions, Prices, Rates, with_values
from wikisum.pipeline.estimate.volumes import ArticleSample, CrawlSample, PageSample
from wikisum.pipeline.examples.settings import GraphSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.setting import Settings

ARTICLES = 2_300_000
DUMP_BYTES = 22_000_000_000
MARKUP_CHARS = 9_000  # of an article
PACKED_BYTES = 6_000  # of an article's text and citations
CITED, SEARCHED = 29, 10  # pages that an article wants
WET_FILES, WET_FILE_BYTES, RECORDS_PER_FILE = 72_000, 120_000_000, 35_000
WET_PAGE_BYTES, WET_LINE_BYTES = 8_000, 40
ARTICLES_PER_SHARD, LOOK_UP_SHARDS = 4096, 16_384
CORE_HOUR, MEMORY_GB_HOUR, SHUFFLE_GB = 0.056, 0.003557, 0.011  # dollars
MEMORY_GB = 3.75  # of a virtual core
WORKERS, JOIN_BYTES = 64, 1 << 30

SAMPLE = ArticleSample(
    read_bytes=DUMP_BYTES,
    total_bytes=DUMP_BYTES,
    input_bytes=DUMP_BYTES,
    articles=ARTICLES,
    markup_chars=ARTICLES * MARKUP_CHARS,
    packed_bytes=ARTICLES * PACKED_BYTES,
    cited=ARTICLES * CITED,
    searched=ARTICLES * SEARCHED,
    is_original=False,
)
GRAPHS = {
    "fast, all 100 paragraphs": GraphSettings(entity_paragraphs=100),
    "fast (default)": GraphSettings(),
    "spacy": GraphSettings(entities="spacy"),
    "similarity alone": GraphSettings(graphs="similarity"),
}


def text_pages(assumed: Assumptions) -> PageSample:
    """Return a sample of pages of WET files with the assumed means."""
    documents = round(100 * assumed.page_share)
    paragraphs = round(documents * assumed.page_paragraphs)
    chars = round(paragraphs * assumed.paragraph_chars)
    size_bytes = 100 * WET_PAGE_BYTES
    lines = size_bytes // WET_LINE_BYTES
    return PageSample(100, 0, size_bytes, documents, documents, paragraphs, chars, lines, chars)


def stated(settings: Settings, values: dict[str, float]) -> Estimate:
    """Return the estimate of the job, by an index or by whole files."""
    prices = Prices(cpu_hour=CORE_HOUR + MEMORY_GB * MEMORY_GB_HOUR, shuffle_gb=SHUFFLE_GB)
    assumed, rates = with_values(Assumptions(), values), with_values(Rates(), values)
    total = WET_FILES * WET_FILE_BYTES
    whole_files = CrawlSample(
        WET_FILES, WET_FILES, total, total, WET_FILES * RECORDS_PER_FILE, 0, text_pages(assumed)
    )
    crawl = None if settings[LocateSettings].crawls else whole_files
    return estimate(
        SAMPLE, crawl, None, settings, rates, assumed, replace(prices), join_bytes=JOIN_BYTES
    )


def file_count(by_index: bool) -> int:
    """Return the number of files of the dataset, if each part writes one per kind."""
    of_articles = ARTICLES // ARTICLES_PER_SHARD
    pages = LOOK_UP_SHARDS if by_index else WET_FILES
    kinds = 3 if by_index else 2  # captures, documents, dropped rows
    examples = round(of_articles * 1.25)
    return 2 * of_articles + kinds * pages + 2 * examples


def hours(found: Estimate) -> float:
    """CPU hours of all stages."""
    return found.total.cpu_seconds / 3600


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assume", nargs="+", default=[], metavar="NAME=VALUE")
    pairs = (word.split("=") for word in parser.parse_args().assume)
    values = {name: float(value) for name, value in pairs}
    index = LocateSettings(crawls=("CC-MAIN-2024-10",))
    ways = {"index and ranges": Settings(index), "whole WET files": Settings()}
    found = {name: stated(settings, values) for name, settings in ways.items()}
    for name, one in found.items():
        volume = one.volumes
        print(f"## By {name}\n")
        print(f"{volume.articles:,.0f} articles, {volume.wanted:,.0f} wanted pages, ", end="")
        print(f"{volume.found:,.0f} found, {volume.examples:,.0f} examples; characters of text: ")
        print(f"{volume.chars:.2g} in documents, {volume.kept_chars:.2g} in examples, ", end="")
        print(f"{volume.entity_chars:.2g} in which entities are recognized.\n")
        print(
            "| stage | CPU hours | GB read | GB shuffled | GB written | GB of the largest process |"
        )
        print("| --- | --- | --- | --- | --- | --- |")
        for cost in [*one.stages, one.total]:
            sizes = (cost.read_bytes, cost.shuffle_bytes, cost.output_bytes, cost.process_bytes)
            cells = " | ".join(f"{size / 1e9:,.1f}" for size in sizes)
            print(f"| {cost.stage} | {cost.cpu_seconds / 3600:,.1f} | {cells} |")
        memory = max(stage_memory(cost, WORKERS) for cost in one.stages)
        print(f"\nTemporary disk {one.temporary_bytes / 1e9:,.0f} GB, with the output ", end="")
        print(
            f"{one.disk_bytes / 1e9:,.0f} GB. Memory of {WORKERS} workers {memory / 1e9:,.0f} GB. "
        )
        print(f"About {file_count(name.startswith('index')):,} files. Dollars: ", end="")
        print(", ".join(f"{kind} {paid:,.0f}" for kind, paid in one.dollars.items()) + ".\n")
    print("## Graphs\n\n| graphs | CPU hours of `graphs` | CPU hours of the job, by index |")
    print("| --- | --- | --- |")
    for name, graphs in GRAPHS.items():
        one = stated(Settings(index, graphs), values)
        seconds = next(c.cpu_seconds for c in one.stages if c.stage == "graphs")
        print(f"| {name} | {seconds / 3600:,.0f} | {hours(one):,.0f} |")


if __name__ == "__main__":
    main()
