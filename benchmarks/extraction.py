"""How well and how fast extractors find the main text of marked pages: a table, a JSON line.

    python benchmarks/extraction.py PAGES.jsonl.gz [--held-out] [--also PAGES.jsonl.gz...]
        [--unmarked FILE...] [--pictures FILE.png] [--only NAME...]

Our extractors and every peer that is installed run over the same pages in one process. Time is
CPU time, of each page the least of the runs. On the pages that the fast extractor was trained on,
use --held-out: it adds the figures of texts that ten models found, none of which has seen the site
of the page; --also names other marked pages that they learn from.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from extractor_samples import block_coverage, marked_sample, read_unmarked_pages
from extractors import Extractor, installed_extractors
from marked_pages import (
    MarkedPage,
    bootstrap_interval,
    f1_of_means,
    precision_recall,
    read_marked_pages,
)
from train_extractor import extract as extract_with
from train_extractor import held_out_models, read_pages

from wikisum.crawl.extract.blocks import read_blocks
from wikisum.crawl.extract.main_text import Model, main_blocks
from wikisum.crawl.paragraphs import drop_reason

matplotlib.use("Agg")
from matplotlib import pyplot as plt

WORST = 10
HEAD = """
| extractor | CPU ms a page | median | F1 | 95 % of resampled pages | precision | recall |
| --- | --- | --- | --- | --- | --- | --- |"""


class Row(NamedTuple):
    """An extractor's `ms` of each page, its `scores` (pages x precision, recall).

    `failures` counts pages on which it raised; their text is empty.
    """

    name: str
    ms: np.ndarray
    scores: np.ndarray
    failures: int


def scores_of(texts: Sequence[str], pages: Sequence[MarkedPage]) -> np.ndarray:
    """Precision and recall of each page's text."""
    return np.array([precision_recall(t, p.text) for t, p in zip(texts, pages, strict=True)])


def measure(name: str, extract: Extractor, pages: Sequence[MarkedPage], runs: int) -> Row:
    """Run an extractor several times over all pages."""
    nanoseconds = np.zeros((runs, len(pages)))
    texts = [""] * len(pages)
    failed = set()
    for run in range(runs):
        for i, page in enumerate(pages):
            start = time.process_time_ns()
            try:
                texts[i] = extract(page.html)
            except Exception:  # a peer's own, of any kind
                failed.add(i)
            nanoseconds[run, i] = time.process_time_ns() - start
    return Row(name, nanoseconds.min(axis=0) / 1e6, scores_of(texts, pages), len(failed))


def held_out(row: Row, pages: Sequence[MarkedPage], texts: Sequence[str]) -> Row:
    """The row of the fast extractor, filtered or not, with the scores of other models' texts."""
    if "filter" in row.name:
        kept = ([line for line in text.split("\n") if drop_reason(line) is None] for text in texts)
        texts = ["\n".join(lines) for lines in kept]
    return row._replace(name=f"{row.name}, held-out folds", scores=scores_of(texts, pages))


def show(row: Row) -> dict[str, float | str]:
    """Print a line of the table; its figures."""
    low, high = bootstrap_interval(row.scores)
    precision, recall = row.scores.mean(axis=0)
    mean, median, f1 = row.ms.mean(), np.median(row.ms), f1_of_means(row.scores)
    failures = f" (fails on {row.failures})" if row.failures else ""
    print(
        f"| {row.name}{failures} | {mean:.2f} | {median:.2f} | {f1:.3f} | {low:.3f} to {high:.3f} "
        f"| {precision:.3f} | {recall:.3f} |",
        flush=True,
    )
    quality = {"f1": f1, "low": low, "high": high, "precision": precision, "recall": recall}
    figures = {"ms": mean, "median_ms": median, **quality}
    rounded = {key: round(float(value), 4) for key, value in figures.items()}
    return {"extractor": row.name, **rounded, "failures": row.failures}


def draw_worst(
    pages: Sequence[MarkedPage], models: Sequence[Model], scores: np.ndarray, out: Path
) -> list[str]:
    """The ids of the worst pages; their picture is a strip a page, a bar a block, and no text."""
    f1 = 2 * scores.prod(axis=1) / np.maximum(scores.sum(axis=1), 1e-9)
    worst = np.argsort(f1)[:WORST]
    figure, axes = plt.subplots(WORST, 1, figsize=(11, 1.05 * WORST))
    colors = {(1, 1): "#4c9f70", (1, 0): "#d1495b", (0, 1): "#edae49", (0, 0): "#dddddd"}
    for axis, i in zip(axes, worst, strict=True):
        page = read_blocks(pages[i].html)
        coverage, counts = block_coverage(page, pages[i].text)
        kept = main_blocks(page, models[i])
        color = [colors[int(c > 0.5), int(k)] for c, k in zip(coverage, kept, strict=True)]
        left = np.concatenate(([0], np.cumsum(counts)[:-1]))
        axis.bar(left, 1, width=counts, align="edge", color=color, linewidth=0)
        axis.set_xlim(0, max(1, counts.sum()))
        axis.set_yticks([])
        axis.tick_params(labelsize=6)
        axis.set_title(
            f"{pages[i].id}: precision {scores[i, 0]:.2f}, recall {scores[i, 1]:.2f}",
            fontsize=7, loc="left", pad=2,
        )  # fmt: skip
    names = ("kept rightly", "lost", "kept wrongly", "left out rightly")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in colors.values()]
    figure.legend(handles, names, loc="lower center", ncol=4, fontsize=7, frameon=False)
    figure.supxlabel("words of the page, in reading order", fontsize=7, y=0.025)
    figure.tight_layout(rect=(0, 0.035, 1, 1), h_pad=0.4)
    figure.savefig(out, dpi=80)
    return [pages[i].id for i in worst]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    parser.add_argument("--only", nargs="*", help="names of the extractors to run; default: all")
    parser.add_argument("--unmarked", type=Path, nargs="*", default=[], help="used by --held-out")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    pages = read_marked_pages(options.pages)
    size = np.mean([len(page.html) for page in pages]) / 1e3
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"selectolax {version('selectolax')}"
    )
    models: list[Model] = []
    if options.held_out or options.pictures:
        unmarked = [page for path in options.unmarked for page in read_unmarked_pages(path)]
        learned = [*pages, *read_pages(options.also)]
        samples = [marked_sample(page) for page in learned]
        models = held_out_models(learned, samples, unmarked)[: len(pages)]
    texts = list(map(extract_with, pages, models))
    print(f"{len(pages)} pages of {size:.0f} KB; {machine}\n{HEAD}")
    figures = []
    for name, extract in installed_extractors().items():
        if options.only and name not in options.only:
            continue
        row = measure(name, extract, pages, options.runs)
        if options.held_out and name.startswith("fast"):
            figures.append(show(held_out(row, pages, texts)))
            row = row._replace(name=f"{name}, trained on these pages")
        figures.append(show(row))
    if options.pictures:
        worst = draw_worst(pages, models, scores_of(texts, pages), options.pictures)
        print("\nworst:", ", ".join(worst))
    facts = {"benchmark": "extraction", "pages": len(pages), "page_kb": round(size, 1)}
    print(json.dumps({**facts, "rows": figures, "machine": machine}))


if __name__ == "__main__":
    main()
