"""Does a small pointer-generator learn on real news, and what does the pointer add?

    wikisum import cnndm chunks/*.bin --graphs none --ranking given --out out/cnndm

Trains Stan with words, with and without the pointer, on the same batches, and summarizes the first
test articles by both, by untrained weights, and by Lead-3. Rows hold the curve of validation
losses, ROUGE F1 (stemmed, each summary as one line) and samples.
"""

import argparse
import dataclasses
import io
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import torch

from benchmarks.reproduction.compare import TEXT_METRICS, Row, compared, parts_of
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob, split_rows
from wikisum.models.decoding.summarize import load_run
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import prepare_run, validations
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.run_vocabulary import WordSettings, count_words, save_words
from wikisum.models.vocabulary.words import Words, join_words, split_words
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.rouge import rouge

WORDS, WIDTH, SOURCE_TOKENS, PEAK_RATE, STEPS, TEST = 10_000, 128, 250, 2e-3, 3_000, 100
DECODING = DecodingSettings(beam=3, penalty="average", min_tokens=20, max_tokens=60, block_ngram=3)


def news(args: argparse.Namespace) -> Iterator[Row]:
    """Yield ROUGE of Lead-3, untrained weights, and Stan with and without the pointer."""
    torch.set_num_threads(1)
    shards = split_shards(str(args.data), "train")
    words = count_words(shards, WordSettings(WORDS, SOURCE_TOKENS), sys.stderr)
    steps = args.steps or STEPS
    texts = {"Lead-3": lead3(args)}
    facts: dict[str, Row] = {"Lead-3": {}}
    for name, pointer, length in (
        ("untrained", True, 1), ("pointer", True, steps), ("no-pointer", False, steps),
    ):  # fmt: skip
        run = args.out / f"news-{name}"
        seconds = train(args.data, run, words, pointer, length)
        texts[name] = summaries(args, run)
        curve = [[v.step, v.loss] for v in validations(run)]
        facts[name] = {"training CPU s": seconds, "curve": curve}
    parts = {name: [parts_of(f1(rows))] for name, rows in texts.items()}
    for row in compared(parts, TEXT_METRICS, "pointer"):
        yield row | facts[row["system"]] | {"samples": texts[row["system"]][:5]}


def train(data: Path, run: Path, words: Words, pointer: bool, steps: int) -> float:
    """Train a run unless it is finished; return the CPU seconds that it took."""
    base = preset("tiny-stan")
    settings = dataclasses.replace(
        base,
        model=dataclasses.replace(
            base.model, vocab_size=words.size, words=words.size, width=WIDTH, embedding=WIDTH,
            pointer=pointer,
        ),
        source=SourceSettings(source_tokens=SOURCE_TOKENS, lead_tokens=50),
        train=dataclasses.replace(
            base.train, steps=steps, batch_tokens=16 * SOURCE_TOKENS,
            peak_learning_rate=PEAK_RATE, warmup_steps=50, log_every=25,
            validate_every=max(1, steps // 12),
        ),
        decoding=DECODING,
    )  # fmt: skip
    seconds = run / "cpu_seconds"
    if not seconds.exists():
        start = time.process_time()
        readers = [
            SplitReader(split_shards(str(data), split), settings.model, settings.source, words)
            for split in ("train", "validation")
        ]
        save_words(run, words)
        trainer = Trainer(run, settings, *readers)
        prepare_run(run, settings, find_vocab(str(data)), str(data))
        trainer.fit(io.StringIO())
        seconds.write_text(str(time.process_time() - start))
    return float(seconds.read_text())


def summaries(args: argparse.Namespace, run: Path) -> list[tuple[str, str]]:
    """Return lead and summary of the first test articles."""
    loaded = load_run(run, "last", "cpu")
    shards = split_shards(str(args.data), "test")
    settings = loaded.settings
    reader = SplitReader(shards, settings.model, settings.source, loaded.vocabulary)
    rows = split_rows(loaded, SummaryJob(reader, DECODING, 6_400))
    return [(row.lead, row.summary) for row in itertools.islice(rows, TEST)]


def lead3(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return lead and first three sentences of the first test articles."""
    found: list[tuple[str, str]] = []
    for shard in split_shards(str(args.data), "test"):
        table = pq.read_table(
            shard.path, columns=["lead", "paragraphs"], filesystem=shard.filesystem
        )
        for row in table.slice(0, TEST - len(found)).to_pylist():
            found.append((row["lead"], " ".join(p["text"] for p in row["paragraphs"][:3])))
    return found


def f1(pairs: list[tuple[str, str]]) -> np.ndarray:
    """Return the F1 of each summary, [N, metrics], both texts split into words alike."""
    rows = []
    for lead, summary in pairs:
        one, other = (join_words(split_words(text)) for text in (summary, lead))
        found = rouge(one, other, stem=True)
        rows.append([found[key]["f1"] for key in TEXT_METRICS])
    return np.array(rows)
