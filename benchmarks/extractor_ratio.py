"""Measure the CPU time of the fast extractor relative to resiliparse; print a JSON line too.

    python benchmarks/extractor_ratio.py PAGES.jsonl.gz [--every 2] [--runs 8] [--seed 0]

On each page the two run in random order, so that neither finds the page in the caches of the
processor more often than the other. Time is CPU time, of each page the least of the runs.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
from extractors import resiliparse_text_alone
from marked_pages import read_marked_pages

from wikisum.crawl.html import extract_paragraphs


def fast_paragraphs(html: bytes) -> list[str]:
    return extract_paragraphs(html, "utf-8", "fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--every", type=int, default=2, help="use every n-th page")
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pages = [page.html for page in read_marked_pages(options.pages)[:: options.every]]
    sides = (fast_paragraphs, resiliparse_text_alone)
    least = np.full((len(sides), len(pages)), np.inf)
    random = np.random.default_rng(options.seed)
    for _ in range(options.runs):
        for i, html in enumerate(pages):
            for side in random.permutation(len(sides)):
                start = time.process_time_ns()
                sides[side](html)
                least[side, i] = min(least[side, i], time.process_time_ns() - start)
    fast, resiliparse = least.mean(axis=1) / 1e6
    ratio = fast / resiliparse
    print(f"{len(pages)} pages: {fast:.2f} ms to {resiliparse:.2f} ms, ratio {ratio:.2f}")
    figures = {"fast_ms": fast, "resiliparse_ms": resiliparse, "ratio": ratio}
    rounded = {name: round(float(value), 4) for name, value in figures.items()}
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(
        json.dumps(
            {"benchmark": "extractor_ratio", "pages": len(pages), **rounded, "machine": machine}
        )
    )


if __name__ == "__main__":
    main()
