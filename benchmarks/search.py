"""What does a search for a million titles cost, and which of a search engine's pages does it find?

    python -m benchmarks.search DATA [--titles 1000000] [--part NAME]

DATA holds the crawl files, dumps and search results that benchmarks/search.md names. The titles are
made up of the pages' own words, since what they cost is the pages' matches: their 20,000 most
frequent words, runs of 2 to 5 of their words, and as many names of nobody as are left to make. Each
way of matching is a process of its own, so that its memory is its own. Times are CPU time.
"""

import argparse
import json
import platform
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.clones import collect
from benchmarks.real_run import measured
from wikisum.crawl.errors import BadPage, BadUrl
from wikisum.crawl.extract.page_fields import PageFields, read_fields
from wikisum.crawl.urls import canonical_url, is_wikipedia
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import read_arrays, write_arrays
from wikisum.pipeline.pages.plan import FileShare
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.search.pages import FindCandidates, StoredStatistics
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.pipeline.search.stage import CANDIDATES
from wikisum.ranker.search.clone_sketch import clone_scores, section_sketches, sketch
from wikisum.ranker.search.phrases import WordHashes, build_index, prefix_hashes, search_terms
from wikisum.ranker.search.query_index import PartBuilder, QueryIndex, merge
from wikisum.ranker.search.searcher import Searcher, StatisticsCounter, page_terms

PARTS = ("matchers", "search", "command", "recall", "clones")
FREQUENT_WORDS = 20_000
RUNS_SHARE = 0.3  # of the titles are runs of the pages' words
SECTIONS, PAIRS = 4, 16  # sampled of an article of some 500 words
HTML, TEXT = "pages-dev.warc.gz", "wikigen-dev.warc.wet.gz"
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "an", "el", "i", "or", "u")]


def captures(path: Path) -> Iterator[PageRecord]:
    with path.open("rb") as raw:
        yield from (item for item in read_captures(raw) if isinstance(item, PageRecord))


def fields(capture: PageRecord) -> PageFields | None:
    try:
        return read_fields(capture.payload, capture.charset, capture.kind)
    except BadPage:
        return None


def words_of(path: Path) -> list[list[str]]:
    """The terms of each page's text."""
    pages = filter(None, map(fields, captures(path)))
    return [[t for line in page.text for t in search_terms(line)] for page in pages]


def made_up_titles(count: int, pages: list[list[str]]) -> list[str]:
    source = random.Random(0)
    frequent = Counter(word for page in pages for word in page).most_common(FREQUENT_WORDS)
    titles = {word for word, _ in frequent}
    long = [page for page in pages if len(page) > 50]
    while len(titles) < FREQUENT_WORDS + RUNS_SHARE * count:
        page = source.choice(long)
        at, length = source.randrange(len(page)), source.choice((2, 2, 2, 3, 3, 4, 5))
        titles.add(" ".join(page[at : at + length]))
    while len(titles) < count:
        names = ("".join(source.choices(SYLLABLES, k=source.randint(2, 4))) for _ in range(3))
        titles.add(" ".join([*names][: source.randint(1, 3)]))
    return sorted(titles)


def held_mb(build: Callable[[], Any]) -> tuple[Any, float, float]:
    """(what is built, the MB that the process then has more, CPU seconds)."""
    before, start = psutil.Process().memory_info().rss, time.process_time()
    built = build()
    seconds = time.process_time() - start
    return built, (psutil.Process().memory_info().rss - before) / 1e6, seconds


def of_hashes(titles: list[str], pages: list[list[str]]) -> dict[str, float]:
    """The matcher that is used."""
    words = WordHashes()

    def build() -> Any:
        own, prefixes = [], []
        for title in titles:
            found = prefix_hashes(map(words.__getitem__, title.split()))
            own.append(found[-1])
            prefixes += found
        return build_index(np.array(own, np.uint64), np.array(prefixes, np.uint64))

    index, mb, seconds = held_mb(build)
    start = time.process_time()
    hashed = [words.of(page) for page in pages]  # which the scores need too
    hash_seconds = time.process_time() - start
    found = [len(index.find(page)[0]) for page in hashed]
    result = _matched(pages, sum(found), index.size_bytes / 1e6, mb, seconds, start)
    result["pages_per_second_hashed"] = round(
        1 / (1 / result["pages_per_second"] - hash_seconds / len(pages))
    )
    return result


def of_dictionaries(titles: list[str], pages: list[list[str]]) -> dict[str, float]:
    """A tree of dictionaries, a level a word."""

    def build() -> dict[str, Any]:
        root: dict[str, Any] = {}
        for title in titles:
            node = root
            for word in title.split():
                node = node.setdefault(word, {})
            node[""] = title
        return root

    root, mb, seconds = held_mb(build)
    start = time.process_time()
    found = 0
    for page in pages:
        for at in range(len(page)):
            node: Any = root
            for word in page[at:]:
                node = node.get(word)
                if node is None:
                    break
                found += "" in node
    return _matched(pages, found, mb, mb, seconds, start)


def of_automaton(titles: list[str], pages: list[list[str]]) -> dict[str, float]:
    """An Aho-Corasick automaton over the pages' words, parted by spaces."""
    import ahocorasick_rs

    patterns = [f" {title} " for title in titles]
    automaton, mb, seconds = held_mb(
        lambda: ahocorasick_rs.AhoCorasick(patterns, store_patterns=False)
    )
    start = time.process_time()
    found = 0
    for page in pages:
        text = f" {' '.join(page)} "
        found += len(automaton.find_matches_as_indexes(text, overlapping=True))
    return _matched(pages, found, mb, mb, seconds, start)


def _matched(
    pages: list[list[str]], found: int, size: float, mb: float, seconds: float, start: float
) -> dict[str, float]:
    spent = time.process_time() - start
    return {
        "index_mb": round(size), "process_mb": round(mb), "build_seconds": round(seconds, 1),
        "pages_per_second": round(len(pages) / spent), "matches": found,
    }  # fmt: skip


def whole_search(titles: list[str], folder: str, paths: list[str]) -> dict[str, float]:
    """Every step of the search but its files: the index as workers map it, and pages a second."""
    builder = PartBuilder(WordHashes())
    for number, title in enumerate(titles):
        builder.add(title, [(number, title)], [])
    count = len(titles)
    pairs = np.random.default_rng(0).integers(0, 1 << 32, count * SECTIONS * PAIRS, np.uint32)
    part = builder.part()._replace(
        section_counts=np.full(count, SECTIONS, np.int32),
        pair_counts=np.full(count * SECTIONS, PAIRS, np.int32),
        pairs=pairs,
    )
    written = write_arrays(folder, "index", merge([part]))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(_searched, f"{folder}/{written.path}", paths).result()
    return {"index_mb": round(written.size_bytes / 1e6), **result}


def _searched(index_path: str, paths: list[str]) -> dict[str, float]:
    words = WordHashes()
    before = psutil.Process().memory_info().rss
    index = QueryIndex(*read_arrays(index_path, "benchmark"))
    counter = StatisticsCounter(index)
    result: dict[str, float] = {}
    pages: list[Any] = []
    for path in paths:
        start, count = time.process_time(), 0
        for capture in captures(Path(path)):
            if (page := fields(capture)) is not None:
                pages.append(page_terms(page, words))
                count += 1
        result[f"read_{Path(path).name}"] = round(count / (time.process_time() - start))
    start = time.process_time()
    for page in pages:
        counter.add(page)
    result["counted_pages_per_second"] = round(len(pages) / (time.process_time() - start))
    searcher = Searcher(index, counter.statistics(), 0.5)
    start = time.process_time()
    found = [len(searcher.answers(page).queries) for page in pages]
    result["searched_pages_per_second"] = round(len(pages) / (time.process_time() - start))
    result["queries_a_page"] = round(sum(found) / len(pages), 1)
    statistics = counter.statistics()
    totals = np.array([statistics.collection.page_count, *statistics.collection.field_lengths])
    stored = StoredStatistics(totals, statistics.term_holders, statistics.phrase_holders)
    folder = str(Path(index_path).parent)
    counted = f"{folder}/{write_arrays(folder, 'statistics', stored).path}"
    find = FindCandidates(
        StageWriter(folder, CANDIDATES, 1, {}, Ticker(None)), index_path, "benchmark", (counted,),
        "benchmark", SearchSettings(), Access(RemoteSettings(), None, 1),
    )  # fmt: skip
    for path in paths:
        start = time.process_time()
        count = find(0, [FileShare(*files.expand([path]))]).counts["pages_out"]
        rate = round(count / (time.process_time() - start))
        result[f"all_of_it_{Path(path).name}"] = rate
    result["process_mb_at_the_end"] = round((psutil.Process().memory_info().rss - before) / 1e6)
    return result


def command(listed: Path, warc: Path, folder: Path) -> dict[str, float]:
    """The whole command with two workers over a crawl file, and over one four times as long.

    To be called in a small process: a peak is at least that of the process that began it.
    """
    result = {}
    for times in (1, 4):
        crawl = folder / f"{times}.warc.wet.gz"
        crawl.write_bytes(warc.read_bytes() * times)
        words = ["search", "--warcs", crawl, "--titles", listed, "--out", folder / f"out{times}"]
        seconds, peak = measured(*words, "--workers", "2")
        result |= {f"seconds_of_{times}": round(seconds), f"peak_mb_of_{times}": round(peak)}
    return result


def recall(data: Path, dump: str, warc: str, results: str, folder: Path) -> dict[str, Any]:
    """How many of a search engine's pages that are in the crawl file stand in our top ten."""
    wanted = [json.loads(line) for line in (data / results).read_text().splitlines()]
    listed = folder / f"{results}.txt"
    listed.write_text("\n".join(line["title"] for line in wanted))
    out = folder / results
    crawl = ["--warcs", str(data / warc), "--workers", "1"]
    wikisum(["articles", "--articles", str(data / dump), "--out", str(out)])
    wikisum(["search", *crawl, "--out", str(out)])
    wikisum(["search", *crawl, "--titles", str(listed), "--out", f"{out}-titles"])
    there = {url for c in captures(data / warc) if (url := _canonical(c.url))}
    result: dict[str, Any] = {"titles": len(wanted)}
    for name, place in (("articles", out), ("titles", Path(f"{out}-titles"))):
        lines = [
            json.loads(line)
            for path in sorted((place / "search").glob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        ours = {line["title"]: set(map(_canonical, line["urls"])) for line in lines}
        hits, total, complete = 0, 0, 0
        for line in wanted:
            urls = {u for u in map(_canonical, line["urls"]) if u in there}
            found = urls & ours.get(line["title"].replace("_", " "), set())
            total += len(urls)
            hits += len(found)
            complete += bool(found)
        result |= {"urls_in_crawl": total, f"found_by_{name}": hits, f"titles_by_{name}": complete}
    return result


def _canonical(url: str) -> str | None:
    try:
        return None if is_wikipedia(url) else canonical_url(url)
    except BadUrl:
        return None


def sketched_clones(data: Path) -> dict[str, float]:
    """How well the sketches part copies of articles from honest pages, those of clones.py."""
    words = WordHashes()
    articles, cases = collect(data)
    sketches = [
        section_sketches(
            words.of(search_terms(text)) for text in [a.lead, *(s.text for s in a.sections)]
        )
        for a in articles
    ]
    found = {True: [], False: []}
    for case in cases:
        page = page_terms(PageFields("", [], case.paragraphs, None), words)
        own = sketches[case.article]
        score = 0.0
        if own:
            starts = np.cumsum([0, *map(len, own)][:-1])
            score = clone_scores(sketch(page.hashes), np.concatenate(own), starts).max()
        found[case.is_copy].append(score > 0.5)
    recall, false = np.mean(found[True]), np.mean(found[False])
    return {
        "copies": len(found[True]), "honest": len(found[False]), "recall": round(float(recall), 4),
        "precision": round(float(recall / (recall + false)), 4),
        "pairs_an_article": round(float(np.mean([sum(map(len, own)) for own in sketches]))),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--titles", type=int, default=1_000_000)
    parser.add_argument("--part", choices=PARTS, help="only this part of the figures")
    args = parser.parse_args()
    result: dict[str, Any] = {
        "benchmark": "search",
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "command": " ".join(["python -m benchmarks.search", *sys.argv[1:]]),
    }

    def report(name: str, figures: dict[str, Any]) -> None:
        result[name] = figures
        print(f"{name:20} {figures}", flush=True)

    def wanted(part: str) -> bool:
        return args.part in (None, part)

    with tempfile.TemporaryDirectory() as folder:
        if wanted("matchers") or wanted("search") or wanted("command"):
            pages = words_of(args.data / TEXT)
            titles = made_up_titles(args.titles, pages)
            words_a_page = round(sum(map(len, pages)) / len(pages))
            report("titles and pages", {"titles": len(titles), "words_a_page": words_a_page})
        if wanted("matchers"):
            for kind in (of_hashes, of_dictionaries, of_automaton):
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    report(kind.__name__, pool.submit(kind, titles, pages).result())
        if wanted("search"):
            paths = [str(args.data / name) for name in (HTML, TEXT)]
            report("whole search", whole_search(titles, folder, paths))
        if wanted("command"):
            listed = Path(folder) / "titles.txt"
            listed.write_text("\n".join(titles))
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                figures = pool.submit(command, listed, args.data / TEXT, Path(folder)).result()
            report("whole command", figures)
        if wanted("recall"):
            for name, dump, warc, results in (
                ("recall, HTML", "enwiki-dev.xml.bz2", HTML, "search-results-dev.jsonl"),
                ("recall, WET", "wikigen-dev.xml.bz2", TEXT, "wikigen-search-dev.jsonl"),
            ):
                report(name, recall(args.data, dump, warc, results, Path(folder)))
        if wanted("clones"):
            report("clones by sketch", sketched_clones(args.data))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
