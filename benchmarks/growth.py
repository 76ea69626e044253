"""CPU time, peak memory and disk of each stage of a whole build, by the number of articles.

    python -m benchmarks.growth DUMP --rows benchmarks/growth.jsonl
        [--articles 1000 4000 16000] [--workers 1 2] [--runs 1] [--article-chars 1500]
        [--plot FILE]

Builds datasets of generated slices: the articles of DUMP, a real Wikipedia dump, in turn, each with
new titles, at most 1,500 characters (`--article-chars`), their templates, and references to two
pages of 600 bytes. Every fourth article brings a template of its own. Each build runs in a new
process. CPU time and the peak of the proportional set size are those of it and all its workers
together; disk is what the output folder grows by at most while the stage runs. Memory is sampled
twice per second.

A build with one worker is pinned to one core. CPU time is multiplied by the mean speed of the cores
that the build runs on, which `speed_samples` measures ten times per second: other work and the
temperature change it. With several workers a stage that keeps only one core busy is scaled by the
mean of all, too. With several runs (`--runs`) CPU time is their median, memory and disk are their
maximum. The figures of a build are appended to the file of `--rows`, and builds in it, however many
runs they had, are not run again. Prints the table, and the exponents of CPU time.
"""

import argparse
import bz2
import contextlib
import ctypes
import gzip
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, unescape

import psutil

from benchmarks.estimate import STAGES, folder_bytes
from benchmarks.joins import table
from benchmarks.speed_samples import (
    idlest_core,
    pinned_to,
    process_cpu_seconds,
    sampling,
    scaled_seconds,
)
from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.engine import run

PAGES_PER_ARTICLE = 2
ARTICLES_PER_FILE = 1_000
ARTICLES_PER_TEMPLATE = 4
SERIES = ("workers", "entities", "article_chars")  # what the builds of one curve share
NO_GRAPHS = "no graphs"
DIGITS = {"cpu_seconds": 2, "unscaled_seconds": 2, "peak_mb": None, "disk_mb": 1}
FIGURES = tuple(DIGITS)  # of a stage
SAMPLE_SECONDS = 0.5
PR_SET_CHILD_SUBREAPER = 36  # of Linux, prctl(2)
_URL = re.compile(r"https?://[^\s|\]}<]+")
_PAGE = re.compile(r"<title>([^<]*)</title>.*?<text[^>]*>(.*?)</text>", re.DOTALL)
_HEAD = "<mediawiki xml:lang='en'><siteinfo><dbname>enwiki</dbname></siteinfo>\n"
_TEMPLATE = (
    "{{#if:{{{name|}}}|{{{name}}} has {{formatnum:{{{count|0}}}}} {{#ifeq:{{{kind}}}|lake|islands|"
    "bridges}}{{#switch:{{{kind}}}|lake=, and freezes|river=, and floods}}.}}"
)


class Source(NamedTuple):
    """A real article: its title, its markup and its words."""

    title: str
    text: str
    words: list[str]


def read_sources(dump: Path, max_chars: int) -> list[Source]:
    """The articles of a dump from their leads on, cut."""
    found = []
    for title, text in _PAGE.findall(bz2.decompress(dump.read_bytes()).decode()):
        plain = unescape(text, {"&quot;": '"'})
        words = re.findall(r"[a-z]{2,}", plain.lower())
        if not plain.lower().startswith("#redirect") and len(words) > 400:
            lead = plain[max(0, plain.find("'''")) :]
            found.append(Source(unescape(title), lead[:max_chars], words))
    return found


def write_slice(folder: Path, sources: list[Source], count: int) -> None:
    """Write dump files and WET files of so many articles."""
    for start in range(0, count, ARTICLES_PER_FILE):
        chance = random.Random(start)
        numbers = range(start, min(start + ARTICLES_PER_FILE, count))
        with (
            bz2.open(folder / f"dump-{start:06d}.xml.bz2", "wt") as dump,
            gzip.open(folder / f"pages-{start:06d}.warc.wet.gz", "wb", compresslevel=1) as pages,
        ):
            dump.write(_HEAD)
            for number in numbers:
                source = sources[number % len(sources)]
                dump.writelines(_dump_pages(number, source))
                for page in range(PAGES_PER_ARTICLE):
                    pages.write(_record(_url(number, page), source, chance))
            dump.write("</mediawiki>\n")


def _url(article: int, page: int) -> str:
    return f"http://site{article % 997}.example/{article}/{page}"


def _dump_pages(number: int, source: Source) -> Iterator[str]:
    template = f"Measure {number // ARTICLES_PER_TEMPLATE}"
    if number % ARTICLES_PER_TEMPLATE == 0:
        yield _dump_page(10**7 + number, 10, f"Template:{template}", _TEMPLATE)
    urls = iter(range(10**6))
    text = _URL.sub(lambda _: _url(number, next(urls)), source.text)
    for page in range(next(urls), PAGES_PER_ARTICLE):
        text += f"<ref>{{{{cite web|url={_url(number, page)}|title=Page {page}}}}}</ref>"
    text += f"\n\n== Counts ==\n{{{{{template}|name=It|count={number}|kind=lake}}}}\n"
    yield _dump_page(number + 1, 0, f"{source.title} {number}", text)


def _dump_page(number: int, namespace: int, title: str, text: str) -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id><revision>"
        f"<text>{escape(text)}</text></revision></page>\n"
    )


def _record(url: str, source: Source, chance: random.Random) -> bytes:
    """A WET record: three paragraphs of sentences whose words are the article's."""
    paragraphs = []
    for _ in range(3):
        sentences = (" ".join(chance.choices(source.words, k=15)) for _ in range(2))
        paragraphs.append(" ".join(f"{sentence.capitalize()}." for sentence in sentences))
    block = "\n".join([source.title, *paragraphs]).encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: text/plain\r\nContent-Length: {len(block)}\r\n"
    )
    return head.encode() + b"\r\n" + block + b"\r\n\r\n"


def one(*words: str) -> None:
    """What the process of a build does: print the CPU time after each stage, and the wall time."""
    # processes whose parents end become children of this one, so that their time is counted
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    run_pipeline, to = run.run_pipeline, sys.stdout

    def watched(
        job: Any, construct: Any, parts: int, stage: str, *others: Any, **named: Any
    ) -> None:
        run_pipeline(job, construct, parts, stage, *others, **named)
        print(STAGES.get(stage, stage), process_cpu_seconds(os.getpid()), file=to, flush=True)

    run.run_pipeline = watched
    print("start", process_cpu_seconds(os.getpid()), file=to, flush=True)
    with contextlib.redirect_stdout(sys.stderr):
        code = wikisum(["build", *words])
    print("report", process_cpu_seconds(os.getpid()), file=to, flush=True)
    sys.exit(code)


class Peaks:
    """The peaks since the last call of `take`, sampled in a thread."""

    def __init__(self, process: psutil.Process, folder: Path) -> None:
        self._process, self._folder = process, folder
        self._stopped = threading.Event()
        self._memory = 0.0
        self._disk = self._disk_before = folder_bytes(folder)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        next_disk = 0.0
        while not self._stopped.wait(SAMPLE_SECONDS):
            total = 0
            with contextlib.suppress(psutil.Error):
                for each in (self._process, *self._process.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):
                        total += each.memory_full_info().pss
            self._memory = max(self._memory, total)
            if time.monotonic() > next_disk:
                self._disk = max(self._disk, folder_bytes(self._folder))
                next_disk = time.monotonic() + 5 * SAMPLE_SECONDS

    def take(self) -> tuple[float, float]:
        """(peak of memory, peak of what was added to the folder) in MB; both start anew."""
        now = folder_bytes(self._folder)
        taken = self._memory / 1e6, (max(self._disk, now) - self._disk_before) / 1e6
        self._memory, self._disk, self._disk_before = 0.0, now, now
        return taken

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def built(sources: list[Source], count: int, workers: int, entities: str) -> dict[str, Any]:
    """Build a slice; return the figures of each stage, and the size of what was made."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name), Path(name) / "out"
        write_slice(folder, sources, count)
        words = [
            "--articles",
            f"{folder}/dump-*",
            "--warcs",
            f"{folder}/pages-*",
            "--out",
            str(out),
        ]
        graphs = ["--graphs", "none"] if entities == NO_GRAPHS else ["--entities", entities]
        words += ["--workers", str(workers), *graphs, "--recurring-articles", "0"]
        words += ["--memory", "0.25", "--vocab-size", "2000", "--vocab-sample", "4000"]
        command = [sys.executable, "-m", "benchmarks.growth", "--one", *words]
        cores = [idlest_core()] if workers == 1 else sorted(os.sched_getaffinity(0))
        stages: dict[str, dict[str, float]] = {}
        spans: list[tuple[str, float, float]] = []
        with (
            subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned_to(cores)
            ) as process,
            sampling(process.pid, cores) as samples,
        ):
            assert process.stdout is not None
            peaks, before = Peaks(psutil.Process(process.pid), out), 0.0
            for line in process.stdout:
                stage, text = line.split()
                memory, disk = peaks.take()
                if stage != "start":
                    row = stages.setdefault(stage, dict.fromkeys(FIGURES, 0.0))
                    row["unscaled_seconds"] += float(text) - before
                    row["peak_mb"] = max(row["peak_mb"], memory)
                    row["disk_mb"] = max(row["disk_mb"], disk)
                    spans.append((stage, before, float(text)))
                    seconds = row["unscaled_seconds"]
                    print(f"{count} articles, {stage}: {seconds:.1f} s", file=sys.stderr)
                before = float(text)
            peaks.stop()
            if process.wait():
                raise SystemExit(f"{' '.join(command)} failed")
        for stage, start, end in spans:
            of_cores = [scaled_seconds(of_core, start, end) for of_core in samples]
            stages[stage]["cpu_seconds"] += sum(of_cores) / len(of_cores)
        return {"stages": stages, "out_mb": folder_bytes(out) / 1e6}


def measured(
    sources: list[Source], count: int, workers: int, entities: str, runs: int
) -> dict[str, Any]:
    """Build a slice several times; return the figures of each stage."""
    start = time.monotonic()
    builds = [built(sources, count, workers, entities) for _ in range(runs)]
    stages = {}
    for stage in builds[0]["stages"]:
        of_stage = [build["stages"][stage] for build in builds]
        row = {name: max(each[name] for each in of_stage) for name in ("peak_mb", "disk_mb")}
        for name in ("cpu_seconds", "unscaled_seconds"):
            row[name] = median(each[name] for each in of_stage)
        stages[stage] = _rounded(row) | {
            "from_to": [round(f(each["cpu_seconds"] for each in of_stage), 2) for f in (min, max)]
        }
    return {
        "articles": count, "workers": workers, "entities": entities, "runs": runs,
        "stages": stages, "seconds": round(time.monotonic() - start),
        "out_mb": round(builds[0]["out_mb"], 1),
    }  # fmt: skip


def _rounded(row: dict[str, float]) -> dict[str, float]:
    return {name: round(row[name], digits) for name, digits in DIGITS.items()}


def lines(builds: list[dict[str, Any]]) -> list[dict[str, object]]:
    """A row for each stage of each build, with the exponent since the next smaller build."""
    rows: list[dict[str, object]] = []
    for build in builds:
        same = [b for b in builds if all(b[k] == build[k] for k in SERIES)]
        smaller = [b for b in same if b["articles"] < build["articles"]]
        before = max(smaller, key=lambda b: int(b["articles"]), default=None)
        total = {
            name: round(sum(s[name] for s in build["stages"].values()), 1)
            for name in ("cpu_seconds", "unscaled_seconds")
        } | {
            "peak_mb": max(s["peak_mb"] for s in build["stages"].values()),
            "disk_mb": build["out_mb"],
        }
        for stage, figures in {**build["stages"], "all": total}.items():
            row = {name: build[name] for name in (*SERIES, "articles")}
            row |= {"stage": stage, **{name: figures[name] for name in FIGURES}}
            row |= {"exponent": "", "memory_ratio": ""}
            old = before and next((r for r in rows if _is_same(r, stage, before)), None)
            if before and old:
                factor = math.log(build["articles"] / before["articles"])
                if growth := figures["cpu_seconds"] / max(float(str(old["cpu_seconds"])), 0.01):
                    row["exponent"] = round(math.log(growth) / factor, 2)
                if peak := int(str(old["peak_mb"])):  # none where a stage ended between two samples
                    row["memory_ratio"] = round(figures["peak_mb"] / peak, 2)
            rows.append(row)
    return rows


def _is_same(row: dict[str, object], stage: str, build: dict[str, Any]) -> bool:
    same = all(row[name] == build[name] for name in (*SERIES, "articles"))
    return same and row["stage"] == stage


def plot(rows: list[dict[str, object]], path: str) -> None:
    """Draw CPU time, memory and disk of each stage over the number of articles."""
    from matplotlib import pyplot

    series = sorted({tuple(row[name] for name in SERIES) for row in rows}, key=str)
    figure, panels = pyplot.subplots(
        len(series), 3, figsize=(12, 3.2 * len(series)), squeeze=False, sharex=True
    )
    for one_series, line in zip(series, panels, strict=True):
        workers, entities, chars = one_series
        of_series = [r for r in rows if tuple(r[name] for name in SERIES) == one_series]
        for panel, unit in zip(line, ("cpu_seconds", "peak_mb", "disk_mb"), strict=True):
            for stage in dict.fromkeys(r["stage"] for r in of_series):
                points = [(r["articles"], r[unit]) for r in of_series if r["stage"] == stage]
                panel.plot(*zip(*points, strict=True), "o-", label=stage, markersize=3)
            panel.set(xscale="log", yscale="linear" if unit == "peak_mb" else "log")
            if unit == "peak_mb":
                panel.set_ylim(0, None)
            panel.set(xlabel="articles", ylabel=unit.replace("_mb", ", MB").replace("_", " "))
            panel.set_title(
                f"workers: {workers}, entities: {entities}, {chars} characters", fontsize=9
            )
        line[-1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path)
    parser.add_argument("--articles", type=int, nargs="+", default=[1_000, 4_000, 16_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--entities", default="none", choices=["spacy", "fast", "none", NO_GRAPHS])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--article-chars", type=int, default=1_500)
    parser.add_argument("--rows", type=Path, required=True, metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    args = parser.parse_args()
    args.rows.touch()
    builds = list(map(json.loads, args.rows.read_text().splitlines()))
    done = {tuple(b[name] for name in ("articles", *SERIES)) for b in builds}
    sources = read_sources(args.dump, args.article_chars)
    for count in args.articles:
        for workers in args.workers:
            if (count, workers, args.entities, args.article_chars) not in done:
                figures = measured(sources, count, workers, args.entities, args.runs)
                builds.append({**figures, "article_chars": args.article_chars})
                with args.rows.open("a") as file:
                    file.write(json.dumps(builds[-1]) + "\n")
    rows = lines(sorted(builds, key=lambda b: [b[k] for k in (*SERIES, "articles")]))
    print(*table(rows), sep="\n")
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
