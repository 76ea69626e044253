"""Look-ups in a ZipNum index on a server: what is read for one URL, and for 100,000.

    python -m benchmarks.locate

An index is generated and served on this machine. Each look-up is a `wikisum locate` in a process of
its own; the server notes what it is asked for. Peak memory is that of the largest process.
"""

import gzip
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.builders import LEAD, dump
from tests.fake_crawl import CRAWL, FakeCrawl, served

LINES_A_BLOCK = 20
CODE = """
import resource, sys, time
from wikisum.pipeline.cli import main
code = main(sys.argv[1:])
own, workers = (resource.getrusage(who) for who in
                (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
seconds = time.process_time() + workers.ru_utime + workers.ru_stime
sys.stderr.write(f"\\nUSED {max(own.ru_maxrss, workers.ru_maxrss)} {seconds}\\n")
sys.exit(code)
"""


def measured(*words: object) -> tuple[float, float]:
    """(CPU seconds, peak MB of the largest process) of one `wikisum` command."""
    command = [sys.executable, "-c", CODE, *map(str, words), "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    peak_kb, seconds = done.stderr.rsplit("USED ", 1)[1].split()
    return float(seconds), int(peak_kb) / 1024


def host(number: int) -> str:
    return f"http://host{number:08d}.example/"


def write_index(folder: Path, block_count: int, pad: int) -> None:
    """An index of so many blocks; lines of cluster.idx are padded to look like a large one's."""
    folder.mkdir(parents=True)
    result = {"mime": "text/html", "status": "200", "digest": "A" * 32, "length": "20000"}
    place = 0
    with (folder / "cluster.idx").open("wb") as cluster, (folder / "cdx-00000.gz").open("wb") as f:
        for block in range(block_count):
            lines = []
            for number in range(block * LINES_A_BLOCK, (block + 1) * LINES_A_BLOCK):
                where = {"filename": f"{number % 90_000}.warc.gz", "offset": f"{number * 999}"}
                plain = json.dumps({"url": host(number), **result, **where})
                lines.append(f"example,host{number:08d})/ 20240101000000 {plain}\n")
            member = gzip.compress("".join(lines).encode(), 1, mtime=0)
            first = f"example,host{block * LINES_A_BLOCK:08d})/ 20240101000000"
            row = f"{first}\tcdx-00000.gz\t{place}\t{len(member)}\t{block + 1}\t"
            cluster.write(row.encode().ljust(pad - 1, b"x") + b"\n")
            f.write(member)
            place += len(member)


def looked_up(folder: Path, crawl: FakeCrawl, urls: list[str]) -> dict[str, Any]:
    """What it took to look the URLs up."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    (folder / "dump.xml").write_bytes(dump(("Tavin Bridge", f"{LEAD}\n== Building ==\n{LEAD}")))
    (folder / "search.jsonl").write_text(json.dumps({"title": "Tavin Bridge", "urls": urls}) + "\n")
    measured("articles", "--articles", folder / "dump.xml", "--out", out)
    crawl.asked.clear()
    seconds, peak = measured(
        "locate", "--search-results", folder / "search.jsonl", "--crawl", CRAWL,
        "--crawl-root", crawl.url, "--out", out,
    )  # fmt: skip
    result = json.loads((out / ".work" / "locate.json").read_text())
    spans: dict[str, list[tuple[int, int]]] = {"cluster.idx": [], "cdx-00000.gz": []}
    for asked in crawl.asked:
        first, last = map(int, (asked.range or "").removeprefix("bytes=").split("-"))
        spans[asked.path.rpartition("/")[2]].append((first, last + 1))
    blocks = sorted(spans["cdx-00000.gz"])
    return {
        "urls": len(urls),
        "located": result["counts"].get("urls_located", 0),
        "requests": len(crawl.asked),
        "cluster_bytes": sum(end - start for start, end in spans["cluster.idx"]),
        "block_bytes": sum(end - start for start, end in blocks),
        "block_bytes_twice": sum(max(0, a[1] - b[0]) for a, b in itertools.pairwise(blocks)),
        "cpu_seconds": round(seconds, 1),
        "peak_mb": round(peak),
    }


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    rows: list[dict[str, Any]] = []
    print("| index | URLs | requests | of cluster.idx | of blocks | twice | CPU s | peak MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")

    def row(name: str, index: str, urls: list[str]) -> None:
        with served(folder / index) as crawl:
            found = {"index": name, **looked_up(folder, crawl, urls)}
        rows.append(found)
        read = [f"{found[n] / 1e6:.2f} MB" for n in ("cluster_bytes", "block_bytes")]
        print(
            f"| {name} | {found['located']:,} of {found['urls']:,} | {found['requests']} | "
            f"{' | '.join(read)} | {found['block_bytes_twice']} | {found['cpu_seconds']} | "
            f"{found['peak_mb']} |",
            flush=True,
        )

    indexes = f"cc-index/collections/{CRAWL}/indexes"
    write_index(folder / "large" / indexes, 1_000_000 // 20, 4_000)
    size = (folder / "large" / indexes / "cluster.idx").stat().st_size
    row(f"cluster.idx of {size / 1e6:.0f} MB", "large", [host(777_777)])
    row(f"cluster.idx of {size / 1e6:.0f} MB", "large", [host(n * 90_001) for n in range(10)])
    write_index(folder / "many" / indexes, 50_000, 120)
    for count in (10_000, 100_000):
        row("50,000 blocks", "many", [host(n * (1_000_000 // count)) for n in range(count)])
    shutil.rmtree(folder)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    command = " ".join(["python -m benchmarks.locate", *sys.argv[1:]])
    result = {"benchmark": "locate", "rows": rows, "machine": machine, "command": command}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
