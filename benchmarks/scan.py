"""Pages a second of the whole scan stage, as a user runs it, on real pages.

    python -m benchmarks.scan DATA [--copies N] [--crawls NAME ...]

DATA is the folder with `pages-dev.warc.gz` and `extraction-dev.jsonl.gz`, whose pages are taken
so many times over, at other addresses, into four crawl files with a request and a metadata record
beside each. Each run is a `wikisum scan` in a process of its own. CPU seconds are those of all its
processes, without those of a command that finds all done, so Beam's start and its overhead are in
them; seconds are the stage's own. On a machine that other work shares the latter say little: the
least that the stage can take, where each process has a core, are the CPU seconds of the command's
own process and of the busiest worker. Memory is the peak of the largest process.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks.locate import CODE
from benchmarks.scan_crawl import Body, members, read_pages, write_crawl
from benchmarks.scan_stages import LOOPS, loop_seconds, step_seconds
from tests.builders import LEAD, dump
from wikisum.pipeline.wanted.url_filter import FILTER

FILES = 4
WANTED_SHARE = 20  # one of so many, in the second crawl
TIMES_AS_LONG = 6  # it is
START, ALL, ONE, FEW = CRAWLS = (
    "two files of a page", "all wanted", "all wanted, one file", f"1 in {WANTED_SHARE} wanted"
)  # fmt: skip


class Used(NamedTuple):
    """What a command took: CPU seconds of all its processes, of those that wait for each other."""

    cpu_seconds: float
    least_seconds: float
    peak_mb: float


class Run(NamedTuple):
    """What a scan took."""

    pages: int
    documents: int
    seconds: float
    least_seconds: float
    cpu_seconds: float
    peak_mb: float


def used(*words: object) -> Used:
    """What a `wikisum` command takes."""
    with tempfile.TemporaryFile("w+") as result:
        command = [sys.executable, "-c", CODE, *map(str, words)]
        process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=result)
        seconds: dict[int, float] = {}
        while process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                for one in (process, *process.children(recursive=True)):
                    seconds[one.pid] = sum(one.cpu_times()[:2])
            time.sleep(0.1)
        result.seek(0)
        text = result.read()
    if process.returncode:
        raise SystemExit(text)
    peak_kb, cpu_seconds = text.rsplit("USED ", 1)[1].split()
    own = seconds.pop(process.pid)
    least = own + max(seconds.values(), default=0)
    return Used(float(cpu_seconds), least, int(peak_kb) / 1024)


class Scans:
    """Runs of `wikisum scan` in a folder, for pages at given addresses."""

    def __init__(self, out: Path, urls: list[str]) -> None:
        out.mkdir()
        self._out = out / "out"
        self._search = out / "search.jsonl"
        self._search.write_text(json.dumps({"title": "Tavin Bridge", "urls": urls}) + "\n")
        article = out / "dump.xml"
        article.write_bytes(dump(("Tavin Bridge", f"{LEAD}\n== Building ==\n{LEAD}")))
        used("articles", "--articles", article, "--out", self._out, "--workers", 1)

    @property
    def filter_path(self) -> str:
        return str(self._out / FILTER)

    def run(self, paths: list[Path], workers: int) -> Run:
        words = ("scan", "--warcs", *paths, "--search-results", self._search, "--out", self._out,
                 "--workers", workers)  # fmt: skip
        for path in (self._out / ".work").glob("scan[.-]*"):
            path.unlink() if path.is_file() else shutil.rmtree(path)
        took, idle = used(*words), used(*words)
        done = json.loads((self._out / ".work" / "scan.json").read_text())
        counts = done["counts"]
        return Run(
            counts["records_in"],
            counts.get("documents_out", 0),
            done["seconds"],
            took.least_seconds - idle.least_seconds,
            took.cpu_seconds - idle.cpu_seconds,
            took.peak_mb,
        )


def write_files(folder: Path, bodies: list[Body], copies: int) -> tuple[list[Path], list[str]]:
    """(crawl files, the addresses of all their pages)."""
    hosts = [f"http://copy{copy}.example" for copy in range(copies)]
    urls = [f"{host}/{number}.html" for host in hosts for number in range(len(bodies))]
    size = len(bodies) * copies // FILES
    paths = [folder / f"crawl-{i:05d}.warc.gz" for i in range(FILES)]
    for i, path in enumerate(paths):
        write_crawl(path, bodies, urls[i * size : (i + 1) * size])
    return paths, urls[: FILES * size]


def link_files(folder: Path, paths: list[Path], times: int) -> list[Path]:
    """The same files so many times over, under other names."""
    folder.mkdir()
    links = [folder / f"{i}-{path.name}" for i in range(times) for path in paths]
    for i, link in enumerate(links):
        link.hardlink_to(paths[i % len(paths)])
    return links


def join_files(path: Path, paths: list[Path]) -> Path:
    """One file of all their records."""
    with path.open("wb") as whole:
        for part in paths:
            whole.write(part.read_bytes())
    return path


def show(name: str, workers: int, run: Run, page_mb: float) -> dict[str, Any]:
    rate = run.pages / run.cpu_seconds
    row = {
        "crawl": name,
        "workers": workers,
        "pages": run.pages,
        "documents": run.documents,
        "seconds": round(run.seconds, 1),
        "least_seconds": round(run.least_seconds, 1),
        "cpu_seconds": round(run.cpu_seconds, 1),
        "pages_per_second": round(run.pages / run.seconds, 1),
        "pages_per_least_second": round(run.pages / run.least_seconds, 1),
        "pages_per_cpu_second": round(rate, 1),
        "html_mb_per_cpu_second": round(rate * page_mb, 1),
        "peak_mb": round(run.peak_mb),
    }
    print(f"| {' | '.join(map(str, row.values()))} |", flush=True)
    return row


def job_rows(
    folder: Path, bodies: list[Body], copies: int, crawls: list[str]
) -> tuple[list[dict[str, Any]], Scans]:
    """A row of the table for each crawl and number of workers, and the runs of all pages."""
    page_mb = sum(len(b.payload) for b in bodies) / len(bodies) / 1e6
    paths, urls = write_files(folder, bodies, copies)
    one = join_files(folder / "one.warc.gz", paths)
    tiny = [folder / f"tiny-{i}.warc.gz" for i in range(2)]
    for path in tiny:
        write_crawl(path, bodies, urls[:1])
    print(f"{len(bodies)} pages of {page_mb * 1000:.0f} KB in the mean; {len(urls):,} in "
          f"{FILES} files, {one.stat().st_size / 1e6:,.0f} MB compressed\n")  # fmt: skip
    every, few = Scans(folder / "every", urls), Scans(folder / "few", urls[::WANTED_SHARE])
    links = link_files(folder / "links", paths, TIMES_AS_LONG)
    for scans in (every, few):
        scans.run(tiny, 1)  # so that what comes before the scan is done
    print("| crawl | workers | pages | documents | s | least s | CPU s | pages/s | pages/least s "
          "| pages/CPU s | MB of HTML/CPU s | peak MB |\n|" + " --- |" * 12)  # fmt: skip
    rows = [
        show(name, workers, scans.run(files, workers), page_mb)
        for workers in (1, 2)
        for name, scans, files in (
            (START, every, tiny),
            (ALL, every, paths),
            (ONE, every, [one]),
            (FEW, few, links),
        )
        if name in (START, *crawls)
    ]
    return rows, every


def speed_up(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Pages a second of two workers by those of one, as it was and where each has a core."""
    of = {(row["crawl"], row["workers"]): row for row in rows}
    names = [name for name, workers in of if workers == 1 and name != START]
    kinds = ("pages_per_second", "pages_per_least_second")
    return {
        name: {kind: round(of[name, 2][kind] / of[name, 1][kind], 2) for kind in kinds}
        for name in names
    }


def step_milliseconds(
    crawl: bytes, pages: int, filter_path: str, rows: list[dict[str, Any]]
) -> dict[str, float]:
    """CPU time of a page in each step, and what a job of one worker takes besides."""
    passes = [step_seconds(crawl, filter_path) for _ in range(2)]
    found = {name: 1000 * min(one[name] for one in passes) / pages for name in passes[0]}
    by_name = {row["crawl"]: row for row in reversed(rows)}  # the first, of one worker, stays
    if whole := by_name.get(ALL) or by_name.get(ONE):
        job = whole["cpu_seconds"] - by_name[START]["cpu_seconds"]
        found["rest of the job"] = 1000 * job / whole["pages"] - sum(found.values())
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--copies", type=int, default=24)
    parser.add_argument("--crawls", nargs="+", choices=CRAWLS, default=CRAWLS)
    args = parser.parse_args()
    bodies = read_pages(args.data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, every = job_rows(folder, bodies, args.copies, args.crawls)
        ratios = speed_up(rows)
        print(f"\npages a second of 2 workers by those of 1: {ratios}\n")
        urls = [f"http://copy0.example/{number}.html" for number in range(len(bodies))]
        crawl = b"".join(members(bodies, urls))
        steps = step_milliseconds(crawl, len(bodies), every.filter_path, rows)
    print("| step | CPU ms a page |\n| --- | --- |")
    for step, value in steps.items():
        print(f"| {step} | {value} |")
    loops = {loop: round(len(urls) / loop_seconds(loop, crawl, set(urls)), 1) for loop in LOOPS}
    print("\n| a plain loop | pages/CPU s |\n| --- | --- |")
    for loop, rate in loops.items():
        print(f"| {loop} | {rate} |")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    command = " ".join(["python -m benchmarks.scan", *sys.argv[1:]])
    result = {"benchmark": "scan", "rows": rows, "workers_2_by_1": ratios, "ms_a_page": steps,
            "loops": loops, "machine": machine, "command": command}  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main()
