"""Peak memory, CPU time and temporary disk of the stages that join, by the number of articles.

`python -m benchmarks.joins [--articles 1000 4000 16000] [--workers 1 2] [--memory 0.125]`: joins
generated articles with generated pages, ten pages of about 2 KB per article, range by range
and, for comparison, through the groupings of Beam's embedded runner, which hold all that is
grouped in memory (`--ways ranges beam`). Each run has a process of its own; its peak is that of it
and all its workers together (proportional set size, sampled ten times per second). `--plot FILE`
draws the peaks.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from wikisum.crawl.titles import article_id, split_of
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.stage import join_pages
from wikisum.pipeline.machine import GIB
from wikisum.pipeline.records import ARTICLE, DOCUMENT, DROPPED, Article, Document, Section
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.stage import want_pages

PAGES_PER_ARTICLE = 10
ARTICLES_PER_FILE = 500
STAGES = ("wanted", "examples")
WAYS = ("ranges", "beam")
_BEAM = ("--runner=FnApiRunner", "--direct_running_mode=multi_processing")


def inputs(out: str, count: int) -> tuple[StageResult, StageResult]:
    """Write `articles/` and `documents/` of so many articles; return the results of both stages."""
    words = [f"w{number:x}" * 4 for number in range(20_000)]  # long, since words cost time
    articles, documents = [], []
    for start in range(0, count, ARTICLES_PER_FILE):
        chance = random.Random(start)
        stop = min(start + ARTICLES_PER_FILE, count)
        with (
            open_shard(out, f"articles/articles-{start:06d}.parquet", ARTICLE, {}) as some_articles,
            open_shard(out, f"documents/pages-{start:06d}.parquet", DOCUMENT, {}) as pages,
        ):
            for number in range(start, stop):
                some_articles.write(_article(number, count, chance))
                for page in range(PAGES_PER_ARTICLE):
                    text = [" ".join(chance.choices(words, k=20)) for _ in range(5)]
                    pages.write(_page(_url(number, page), text))
        articles.append(some_articles.file)
        documents.append(pages.file)
    with open_shard(out, "dropped/dropped-scan-0.parquet", DROPPED, {}):
        pass
    cited = count * (PAGES_PER_ARTICLE + 2)
    counts = {"articles_out": count, "citations_out": cited}
    extra = {"settings": {"titles": None, "limit": None}, "cited_as": "citation"}
    return (
        StageResult("articles", "articles", list(filter(None, articles)), counts, extra, 0),
        StageResult("scan", "scan", list(filter(None, documents)), {}, {"settings": {}}, 0),
    )


def _url(article: int, page: int) -> str:
    return f"http://site{article % 997}.example/{article}/{page}"


def _article(number: int, count: int, chance: random.Random) -> Article:
    """An article that wants its own pages, one of another article and one that nobody has."""
    title = f"Article {number}"
    return Article(
        id=article_id(title),
        title=title,
        url=f"https://en.wikipedia.org/wiki/Article_{number}",
        lead="The article has a lead of some words.",
        sections=[Section("Text", 2, "A section of the article. " * 40)],
        citations=[
            *(_url(number, page) for page in range(PAGES_PER_ARTICLE)),
            _url(chance.randrange(count), 0),
            f"http://gone.example/{number}",
        ],
        split=split_of(title),
    )


def _page(url: str, paragraphs: list[str]) -> Document:
    return Document(url, url, "Page", paragraphs, "en", "pages.warc", 0, 9, "sha1:X", "2024")


@contextlib.contextmanager
def sampled(process: psutil.Process, folder: str) -> Iterator[dict[str, float]]:
    """The peaks of the memory of a process and its children and of a folder's size, in MB."""
    peaks = {"peak_mb": 0.0, "disk_mb": 0.0}
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.1):
            total = 0
            with contextlib.suppress(psutil.Error):
                for each in (process, *process.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        total += each.memory_full_info().pss
            peaks["peak_mb"] = max(peaks["peak_mb"], total / 1e6)
            peaks["disk_mb"] = max(peaks["disk_mb"], _size_bytes(folder) / 1e6)

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()


def _size_bytes(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.path.getsize(os.path.join(parent, name))
    return total


def measured(stage: str, way: str, count: int, workers: int, memory: float) -> dict[str, object]:
    """One run in a process of its own, with articles and pages written before."""
    with tempfile.TemporaryDirectory() as out:
        words = [stage, way, str(count), str(workers), str(memory), out]
        command = [sys.executable, "-m", "benchmarks.joins", "--one", *words]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert started.stdout is not None
        inputs_mb = float(started.stdout.readline())  # written when the inputs are there
        with sampled(psutil.Process(started.pid), out) as peaks:
            seconds = started.stdout.readline()
            started.wait()
        if started.returncode:
            raise SystemExit(f"{' '.join(command)} failed")
    return {
        "stage": stage,
        "way": way,
        "articles": count,
        "workers": workers,
        "memory_gib": memory,
        "peak_mb": round(peaks["peak_mb"]),
        "cpu_seconds": round(float(seconds), 1),
        "input_mb": round(inputs_mb, 1),
        "disk_mb": round(peaks["disk_mb"] - inputs_mb, 1),
    }


def one(stage: str, way: str, count: str, workers: str, memory: str, out: str) -> None:
    """What the process of a run does: inputs, then the stage before, then the stage."""
    flags = (*_BEAM, f"--direct_num_workers={workers}") if way == "beam" else ()
    if way == "beam" and workers == "1":
        flags = _BEAM[:1]
    log = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
    size = int(float(memory) * GIB)
    job = Job(Workspace(out), log, int(workers), flags, memory_bytes=size)
    articles, scanned = inputs(out, int(count))
    if stage == "examples":
        wanted = want_pages(job, Settings(), [], articles)
    print(_size_bytes(out) / 1e6, flush=True)
    start = _cpu_seconds()
    if stage == "wanted":
        want_pages(job, Settings(), [], articles)
    else:
        own = ExampleSettings(recurring_articles=0, ranking="given", near_duplicate_threshold=1)
        join_pages(job, Settings(own), articles, wanted, [scanned])
    print(_cpu_seconds() - start, flush=True)


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def table(rows: list[dict[str, object]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    names = list(rows[0])
    yield f"| {' | '.join(name.replace('_', ' ') for name in names)} |"
    yield f"| {' | '.join('---' for _ in names)} |"
    for row in rows:
        yield f"| {' | '.join(str(row[name]) for name in names)} |"


def plot(rows: list[dict[str, object]], path: str) -> None:
    """Draw the peaks over the number of articles, a panel for each stage."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(STAGES), figsize=(9, 3.4))
    for panel, stage in zip(panels, STAGES, strict=True):
        points: dict[str, dict[object, object]] = {}
        for row in (row for row in rows if row["stage"] == stage):
            line = f"{row['way']}, workers: {row['workers']}"
            points.setdefault(line, {})[row["articles"]] = row["peak_mb"]
        for line, peaks in points.items():
            style = "o-" if line.startswith("ranges") else "s--"
            panel.plot(list(peaks), list(peaks.values()), style, label=line)
        panel.set(title=stage, xlabel="articles", ylabel="peak memory, MB", ylim=(0, None))
        panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", type=float, default=0.125)
    parser.add_argument("--ways", choices=WAYS, nargs="+", default=WAYS)
    parser.add_argument("--stages", choices=STAGES, nargs="+", default=STAGES)
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--append", metavar="FILE", help="JSON lines, read and extended")
    args = parser.parse_args()
    file = Path(args.append) if args.append else None
    rows = list(map(json.loads, file.read_text().splitlines())) if file and file.exists() else []
    for stage in args.stages:
        for way in args.ways:
            for workers in args.workers:
                for count in args.articles:
                    start = time.monotonic()
                    rows.append(measured(stage, way, count, workers, args.memory))
                    print(json.dumps(rows[-1]), f"{time.monotonic() - start:.0f} s", flush=True)
                    if file:
                        with file.open("a") as written:
                            written.write(json.dumps(rows[-1]) + "\n")
    print(*table(rows), sep="\n")
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
