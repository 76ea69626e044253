"""Flat and hierarchical models on a learnable set: the PHT paper, Liu and Lapata 2019.

Each run is a `wikisum` command. A run that has its summaries is not trained again.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from benchmarks.reproduction.compare import Row, compared
from benchmarks.topics import TopicSettings, write_topics
from wikisum.models.evaluation.evaluate import KEYS, EvaluationSettings, evaluate
from wikisum.pipeline.cli import main as wikisum

SHOWN = ("rouge1", "rouge2", "rougeL", "log_perplexity", "attention_cosine")
PHT_SYSTEMS: dict[str, tuple[str | int, ...]] = {
    "FT": ("tiny-ft",),
    "T-DMCA": ("tiny-t-dmca",),
    "Transformer-XL": ("tiny-transformer-xl",),
    "HT": ("tiny",),
    "PHT": ("tiny-pht",),
    "VHT": ("tiny-vht",),
}
FLAT_TOKENS = 80
HIERARCHICAL_SYSTEMS: dict[str, tuple[str | int, ...]] = {
    "FT, first half": ("tiny-ft", "--source-tokens", FLAT_TOKENS),
    "FT": ("tiny-ft",),
    "HT": ("tiny",),
    "HT + similarity graph": ("tiny", "--graph", "similarity"),
    "HT + discourse graph": ("tiny", "--graph", "discourse"),
    "HT - paragraph position": ("tiny", "--no-paragraph-position"),
    "HT - pooling heads": ("tiny", "--pooling-heads", 1),
    "HT - global layers": ("tiny", "--layers", "LLL"),
}


@dataclass(frozen=True)
class Setting:
    """A learnable set and the length of training on it."""

    topics: TopicSettings
    articles: int
    steps: int


PHT = Setting(TopicSettings(facts=2, distractors=3), 1_500, 600)
HIERARCHICAL = Setting(TopicSettings(facts=2, distractors=4), 1_500, 800)


def pht(args: argparse.Namespace) -> Iterator[Row]:
    """Tables 1 and 2 of the PHT paper: quality and attention of flat and hierarchical models."""
    return _comparison(args, "pht", PHT, PHT_SYSTEMS, "PHT")


def hierarchical(args: argparse.Namespace) -> Iterator[Row]:
    """Table 2 of Liu and Lapata 2019: flat or hierarchical, graphs, and what each part adds."""
    return _comparison(args, "hierarchical", HIERARCHICAL, HIERARCHICAL_SYSTEMS, "HT")


def _comparison(
    args: argparse.Namespace,
    name: str,
    setting: Setting,
    systems: dict[str, tuple[str | int, ...]],
    reference: str,
) -> Iterator[Row]:
    data, steps = args.out / f"data-{name}", args.steps or setting.steps
    if not data.exists():
        write_topics(data, args.articles or setting.articles, setting.topics, 1_000)
    runs = {
        system: [args.out / f"{name}-{number}-{seed}" for seed in args.seeds]
        for number, system in enumerate(systems)
    }
    # one seed after the other, so that what is there when time runs out can be compared
    for index, seed in enumerate(args.seeds):
        for system, (preset, *flags) in systems.items():
            train(str(preset), data, runs[system][index], steps, "--seed", seed, *flags)
    settings = EvaluationSettings(samples=1)
    shown = [m for m, key in enumerate(KEYS) if key in SHOWN]
    parts: dict[str, list] = {system: [] for system in systems}
    for index in range(len(args.seeds)):
        files = [paths[index].with_suffix(".jsonl") for paths in runs.values()]
        evaluation, _ = evaluate(files, None, settings, sys.stderr)
        for k, system in enumerate(systems):
            parts[system].append(evaluation.parts_NK2M[:, k][..., shown])
    for row in compared(parts, [KEYS[m] for m in shown], reference):
        seconds = mean(float((run / "cpu_seconds").read_text()) for run in runs[row["system"]])
        yield row | {"training CPU s": seconds}


def train(preset: str, data: Path, run: Path, steps: int, *flags: object) -> None:
    """Train a preset and write its test summaries to RUN.jsonl, unless they are there."""
    out = run.with_suffix(".jsonl")
    if out.exists():
        return
    start = time.process_time()
    command("train", "summarizer", "--preset", preset, "--data", data, "--out", run,
            "--width", 64, "--feedforward", 128, "--batch-tokens", 1_500, "--steps", steps,
            "--validate-every", steps, "--device", "cpu", *flags)  # fmt: skip
    (run / "cpu_seconds").write_text(str(time.process_time() - start))
    command("summarize", "--run", run, "--data", data, "--split", "test", "--out", out,
            "--max-tokens", 40, "--beam", 3, "--device", "cpu")  # fmt: skip


def command(*words: object) -> None:
    """Run a `wikisum` command in this process. Raises RuntimeError if it fails."""
    with contextlib.redirect_stdout(sys.stderr):
        status = wikisum([*map(str, words)])
    if status:
        raise RuntimeError(f"wikisum {words[0]} {words[1]} ended with status {status}")
