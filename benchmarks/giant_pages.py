"""What pages beyond all bounds cost, each in a process of its own: a table, a JSON line.

    python benchmarks/giant_pages.py

Seconds are CPU time of the extraction alone, memory is what it adds to the process's peak.
"""

import json
import platform
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import read_page

SENTENCE = "The bridge was opened in 1881, and carried trains until the line was closed. "
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
MILLION = 1_000_000


def _article(text: str = "") -> str:
    return f"<title>Bridge</title><article>{PARAGRAPH * 5}{text}</article>"


PAGES: dict[str, Callable[[], bytes]] = {
    "an article of five paragraphs": lambda: _article().encode(),
    "zero bytes": lambda: b"",
    "200 MB of paragraphs": lambda: (PARAGRAPH.encode() * MILLION)[: 200 << 20],
    "8 MiB of paragraphs": lambda: (PARAGRAPH.encode() * MILLION)[: 8 << 20],
    "8 MiB of text without a tag": lambda: (SENTENCE.encode() * MILLION)[: 8 << 20],
    "1 M nested tags": lambda: b"<div>" * MILLION + b"deep",
    "99,999 nested tags": lambda: b"<div>" * 99_999 + b"deep",
    "19,999 nested tags": lambda: b"<div>" * 19_999 + b"deep",
    "99,999 paragraphs": lambda: b"<p>Some words of text" * 99_999,
    "1 M attributes": lambda: b"<p " + b" ".join(b"a%d=1" % i for i in range(MILLION)),
    "1 M attributes, quoted tags in them": lambda: (
        b"<p " + b" ".join(b"%x='>'" % i for i in range(MILLION // 2)) + b">" + PARAGRAPH.encode()
    ),
    "15,000 attributes of one tag": lambda: (
        b"<p " + b" ".join(b"a%d=1" % i for i in range(15_000)) + b">" + PARAGRAPH.encode()
    ),
    "400 tags left open, 2,000 paragraphs": lambda: (
        b"<p>" + b"".join(b"<b id=%d>" % i for i in range(400)) + b"</p>x" * 2_000
    ),
    "100 tags left open, 2,000 paragraphs": lambda: (
        b"<p>" + b"".join(b"<b id=%d>" % i for i in range(100)) + b"</p>x" * 2_000
    ),
    "8 MiB of <": lambda: b"<" * (8 << 20),
    "an attribute of 8 MiB": lambda: b"<p title='" + b"x" * ((8 << 20) - 100) + b"'>words",
    "a comment that never ends": lambda: b"<!--" + PARAGRAPH.encode() * 30_000,
    "an article with NULs in it": lambda: _article().replace(" ", "\0 ").encode(),
    "8 MiB of NULs": lambda: b"\0" * (8 << 20),
    "two charsets: half UTF-8, half Latin-1": lambda: (
        _article("<p>é" * 2000).encode() + _article("<p>é" * 2000).encode("latin-1")
    ),
    "lone surrogates": lambda: _article("<p>\ud800 &#xDFFF; a").encode("utf-8", "surrogatepass"),
}


def cost(name: str) -> tuple[str, int, float, float]:
    """What became of a page, its bytes, CPU seconds, and MB added to the process's peak."""
    page = PAGES[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        outcome = f"{len(read_page(page, None, 'html', 'fast').paragraphs)} paragraphs"
    except BadPage as error:
        outcome = error.reason
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return outcome, len(page), seconds, (peak - before) / 1e3


def main() -> None:
    """Print the table."""
    print("| page | MB | outcome | CPU s | MB more |\n| --- | --- | --- | --- | --- |")
    rows = []
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for name, (outcome, size, seconds, megabytes) in zip(
            PAGES, pool.map(cost, PAGES), strict=True
        ):
            print(f"| {name} | {size / 1e6:.2f} | {outcome} | {seconds:.3f} | {megabytes:.0f} |")
            figures = {"s": round(seconds, 4), "mb": round(megabytes, 1)}
            rows.append({"page": name, "bytes": size, "outcome": outcome, **figures})
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(json.dumps({"benchmark": "giant_pages", "rows": rows, "machine": machine}))


if __name__ == "__main__":
    main()
