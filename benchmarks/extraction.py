"""How well and how fast extractors find the main text of marked pages: a table, a JSON line.

    python benchmarks/extraction.py PAGES.jsonl.gz [--held-out] [--unmarked CRAWL.warc.gz]
        [--pictures FILE.png]

Our extractors and every peer that is installed run over the same pages in one process. Time is
CPU time a page, the best of the runs. On the pages that the fast extractor was trained on, use
--held-out: its text is then that of ten models, none of which has seen the page.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import matplotlib
import numpy as np
from extractors import Extractor, installed_extractors
from marked_pages import (
    MarkedPage,
    bootstrap_interval,
    f1_of_means,
    precision_recall,
    read_marked_pages,
)
from train_extractor import block_coverage, held_out_models, read_unmarked_pages
from train_extractor import extract as extract_with

from crawl.blocks import read_blocks
from crawl.main_text import Model, main_blocks

matplotlib.use("Agg")
from matplotlib import pyplot as plt

WORST = 10


def measure(extract: Extractor, pages: Sequence[MarkedPage], runs: int) -> tuple[float, np.ndarray]:
    """Milliseconds a page, and precision and recall of each page."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        texts = [extract(page.html) for page in pages]
        seconds.append(time.process_time() - start)
    scores = [precision_recall(t, p.text) for t, p in zip(texts, pages, strict=True)]
    return min(seconds) / len(pages) * 1e3, np.array(scores)


def held_out_scores(pages: Sequence[MarkedPage], models: Sequence[Model]) -> np.ndarray:
    """Precision and recall of each page under its own model."""
    texts = map(extract_with, pages, models)
    return np.array([precision_recall(t, p.text) for t, p in zip(texts, pages, strict=True)])


def draw_worst(
    pages: Sequence[MarkedPage], models: Sequence[Model], scores: np.ndarray, out: Path
) -> list[str]:
    """The ids of the worst pages; their picture is a strip a page, a bar a block, and no text."""
    f1 = 2 * scores.prod(axis=1) / np.maximum(scores.sum(axis=1), 1e-9)
    worst = np.argsort(f1)[:WORST]
    figure, axes = plt.subplots(WORST, 1, figsize=(11, 1.05 * WORST))
    colours = {(1, 1): "#4c9f70", (1, 0): "#d1495b", (0, 1): "#edae49", (0, 0): "#dddddd"}
    for axis, i in zip(axes, worst, strict=True):
        page = read_blocks(pages[i].html)
        coverage, counts = block_coverage(page, pages[i].text)
        kept = main_blocks(page, models[i])
        colour = [colours[int(c > 0.5), int(k)] for c, k in zip(coverage, kept, strict=True)]
        left = np.concatenate(([0], np.cumsum(counts)[:-1]))
        axis.bar(left, 1, width=counts, align="edge", color=colour, linewidth=0)
        axis.set_xlim(0, max(1, counts.sum()))
        axis.set_yticks([])
        axis.tick_params(labelsize=6)
        axis.set_title(
            f"{pages[i].id}: precision {scores[i, 0]:.2f}, recall {scores[i, 1]:.2f}",
            fontsize=7, loc="left", pad=2,
        )  # fmt: skip
    names = ("kept rightly", "lost", "kept wrongly", "left out rightly")
    handles = [plt.Rectangle((0, 0), 1, 1, color=c) for c in colours.values()]
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
    parser.add_argument("--unmarked", type=Path, help="pages to train on too, with --held-out")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    pages = read_marked_pages(options.pages)
    size = np.mean([len(page.html) for page in pages]) / 1e3
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"selectolax {version('selectolax')}"
    )
    print(f"{len(pages)} pages of {size:.0f} KB; {machine}\n")
    print("| extractor | CPU ms a page | F1 | 95 % of resampled pages | precision | recall |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    models: list[Model] = []
    if options.held_out or options.pictures:
        unmarked = read_unmarked_pages(options.unmarked) if options.unmarked else []
        models = held_out_models(pages, unmarked)
    for name, extract in installed_extractors().items():
        milliseconds, scores = measure(extract, pages, options.runs)
        if options.held_out and name == "fast":
            scores = held_out_scores(pages, models)
            name = "fast, held-out folds"
        elif options.held_out and name.startswith("fast"):
            continue
        low, high = bootstrap_interval(scores)
        precision, recall = scores.mean(axis=0)
        f1 = f1_of_means(scores)
        figures = {"f1": f1, "low": low, "high": high, "precision": precision, "recall": recall}
        print(
            f"| {name} | {milliseconds:.2f} | {f1:.3f} | {low:.3f} to {high:.3f} | "
            f"{precision:.3f} | {recall:.3f} |",
            flush=True,
        )
        rounded = {key: round(float(value), 4) for key, value in figures.items()}
        rows.append({"extractor": name, "ms": round(milliseconds, 3), **rounded})
    if options.pictures:
        worst = draw_worst(pages, models, held_out_scores(pages, models), options.pictures)
        print("\nworst:", ", ".join(worst))
    facts = {"benchmark": "extraction", "pages": len(pages), "held_out": options.held_out}
    print(json.dumps({**facts, "rows": rows, "machine": machine}))


if __name__ == "__main__":
    main()
