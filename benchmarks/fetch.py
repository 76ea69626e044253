"""Pages a second by ranged reads from a server on this machine, and by a scan of the same files.

    python -m benchmarks.fetch DATA [--copies N] [--repeats N]

DATA is the folder with `pages-dev.warc.gz`, whose pages are taken so many times over, at other
addresses. Both commands run with one worker in a process of their own, in turn, and the best of
their rates count: by the stage's own seconds, and by its CPU seconds, which are those of the
command without those of a command that finds all done.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.locate import measured
from tests.builders import LEAD, dump, gzipped, warc_record
from tests.fake_crawl import CRAWL, FakeCrawl, lay_out, served
from wikisum.crawl.warc.warc import PageRecord, read_captures

PAGES_A_FILE = 500
RATES = ("pages_per_second", "pages_per_cpu_second")


def write_copies(data: Path, folder: Path, copies: int) -> tuple[list[Path], list[str]]:
    """(WARC files, addresses) of the pages, copied."""
    with (data / "pages-dev.warc.gz").open("rb") as raw:
        pages = [p for p in read_captures(raw) if isinstance(p, PageRecord)]
    urls = [
        f"http://copy{copy}.example/{number}"
        for copy in range(copies)
        for number in range(len(pages))
    ]
    paths = []
    for start in range(0, len(urls), PAGES_A_FILE):
        paths.append(folder / f"copies-{start // PAGES_A_FILE:05d}.warc.gz")
        with paths[-1].open("wb") as file:
            for number, url in enumerate(urls[start : start + PAGES_A_FILE], start):
                page = pages[number % len(pages)]
                result = {"http_Content_Type": f"{page.mime}; charset={page.charset or 'utf-8'}"}
                file.write(gzipped(warc_record(url, page.payload, **result)))
    return paths, urls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--copies", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    paths, urls = write_copies(args.data, folder, args.copies)
    lay_out(folder / "root", paths)
    (folder / "dump.xml").write_bytes(dump(("Tavin Bridge", f"{LEAD}\n== Building ==\n{LEAD}")))
    (folder / "search.jsonl").write_text(json.dumps({"title": "Tavin Bridge", "urls": urls}) + "\n")
    out = folder / "out"
    search = ("--search-results", folder / "search.jsonl")
    measured("articles", "--articles", folder / "dump.xml", "--out", out)

    def run(stage: str, crawl: FakeCrawl, *words: object) -> dict[str, Any]:
        for path in (out / ".work").glob(f"{stage}[.-]*"):
            path.unlink() if path.is_file() else shutil.rmtree(path)
        crawl.asked.clear()
        cpu, peak = measured(stage, *words, "--out", out)
        asked = len(crawl.asked)
        idle, _ = measured(stage, *words, "--out", out)
        done = json.loads((out / ".work" / f"{stage}.json").read_text())
        count = done["counts"].get("documents_out", 0)
        return {
            "way": stage,
            "pages": count,
            "requests": asked,
            "pages_per_second": round(count / done["seconds"], 1),
            "pages_per_cpu_second": round(count / (cpu - idle), 1),
            "peak_mb": round(peak),
        }

    best: dict[str, dict[str, Any]] = {}
    with served(folder / "root") as crawl:
        root = ("--crawl-root", crawl.url)
        measured("locate", *search, "--crawl", CRAWL, *root, "--out", out)
        for _ in range(args.repeats):
            for found in (
                run("fetch", crawl, *root),
                run("scan", crawl, "--warcs", *paths, *search),
            ):
                before = best.setdefault(found["way"], found)
                for name in RATES:
                    before[name] = max(before[name], found[name])
    rows = list(best.values())
    print("| way | pages | requests | pages/s | pages/CPU s | peak MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(map(str, row.values()))} |")
    shutil.rmtree(folder)
    shares = {name: round(rows[0][name] / rows[1][name], 2) for name in RATES}
    print(f"\nfetch by scan: {shares}")
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    command = " ".join(["python -m benchmarks.fetch", *sys.argv[1:]])
    result = {"benchmark": "fetch", "rows": rows, "shares": shares, "machine": machine,
            "command": command}  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main()
