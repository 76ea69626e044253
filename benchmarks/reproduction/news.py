"""Does a small pointer-generator learn on real news, and what does the pointer add?

    wikisum import cnndm chunks/*.bin --graphs none --ranking given --out out/cnndm
    python -m benchmarks.reproduction_cnndm --data out/cnndm --out out/cnndm-runs

Trains Stan with words, with and without the pointer, on the same batches, and summarizes the first
test articles by both, by untrained weights, and by Lead-3. One JSON line per system, with the curve
of validation losses, ROUGE F1 (stemmed, each summary as one line) with 95 % intervals by bootstrap,
and samples; then paired tests.
"""

import argparse
import dataclasses
import io
import itertools
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob, split_rows
from wikisum.models.decoding.summarize import load_run
from wikisum.models.evaluation.significance import bootstrap, interval, randomisation_p
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import prepare_run, validations
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.run_vocabulary import WordSettings, count_words, save_words
from wikisum.models.vocabulary.words import Words, join_words, split_words
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.rouge import rouge

METRICS = "rouge1", "rouge2", "rougeL"
DECODING = DecodingSettings(beam=3, penalty="average", min_tokens=20, max_tokens=60, block_ngram=3)


def train(args: argparse.Namespace, words: Words, name: str, pointer: bool, steps: int) -> Path:
    """Return the folder of a finished run."""
    base = preset("tiny-stan")
    settings = dataclasses.replace(
        base,
        model=dataclasses.replace(
            base.model, vocab_size=words.size, words=words.size, width=args.width,
            embedding=args.width, pointer=pointer,
        ),
        source=SourceSettings(source_tokens=args.source_tokens, lead_tokens=50),
        train=dataclasses.replace(
            base.train, steps=steps, batch_tokens=16 * args.source_tokens,
            peak_learning_rate=args.rate, warmup_steps=50, log_every=25,
            validate_every=max(1, steps // 4),
        ),
        decoding=DECODING,
    )  # fmt: skip
    readers = [
        SplitReader(split_shards(str(args.data), split), settings.model, settings.source, words)
        for split in ("train", "validation")
    ]
    run = args.out / name
    save_words(run, words)
    trainer = Trainer(run, settings, *readers)
    prepare_run(run, settings, find_vocab(str(args.data)), str(args.data))
    trainer.fit(io.StringIO())
    return run


def summaries(args: argparse.Namespace, run: Path) -> list[tuple[str, str]]:
    """Return lead and summary of the first test articles."""
    loaded = load_run(run, "last", "cpu")
    shards = split_shards(str(args.data), "test")
    settings = loaded.settings
    reader = SplitReader(shards, settings.model, settings.source, loaded.vocabulary)
    rows = split_rows(loaded, SummaryJob(reader, DECODING, 6_400))
    return [(row.lead, row.summary) for row in itertools.islice(rows, args.test)]


def lead3(args: argparse.Namespace) -> list[tuple[str, str]]:
    """Return lead and first three sentences of the first test articles."""
    import pyarrow.parquet as pq

    found: list[tuple[str, str]] = []
    for shard in split_shards(str(args.data), "test"):
        table = pq.read_table(
            shard.path, columns=["lead", "paragraphs"], filesystem=shard.filesystem
        )
        for row in table.slice(0, args.test - len(found)).to_pylist():
            found.append((row["lead"], " ".join(p["text"] for p in row["paragraphs"][:3])))
    return found


def f1(pairs: list[tuple[str, str]]) -> np.ndarray:
    """Return the F1 of each summary, [N, metrics], both texts split into words alike."""
    rows = []
    for lead, summary in pairs:
        one, other = (join_words(split_words(text)) for text in (summary, lead))
        found = rouge(one, other, stem=True)
        rows.append([100 * found[key]["f1"] for key in METRICS])
    return np.array(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--steps", type=int, default=2_000, metavar="N")
    parser.add_argument("--words", type=int, default=5_000, metavar="N")
    parser.add_argument("--width", type=int, default=64, metavar="N")
    parser.add_argument("--source-tokens", type=int, default=150, metavar="N")
    parser.add_argument("--rate", type=float, default=3e-3, help="peak learning rate")
    parser.add_argument("--test", type=int, default=200, metavar="N", help="test articles")
    args = parser.parse_args()
    torch.set_num_threads(1)
    shards = split_shards(str(args.data), "train")
    words = count_words(shards, WordSettings(args.words, args.source_tokens), sys.stderr)
    scores = {"lead3": f1(lead3(args))}
    rows = {"lead3": lead3(args)}
    facts: dict[str, dict] = {"lead3": {}}
    for name, pointer, steps in (
        ("untrained", True, 1), ("pointer", True, args.steps), ("no-pointer", False, args.steps),
    ):  # fmt: skip
        start = time.process_time()
        run = train(args, words, name, pointer, steps)
        seconds = time.process_time() - start
        rows[name] = summaries(args, run)
        scores[name] = f1(rows[name])
        curve = [[v.step, v.loss] for v in validations(run)]
        facts[name] = {"cpu_seconds": seconds, "validation_curve": curve}
    values_NKM = np.stack([*scores.values()], 1)
    ones_NKM = np.ones_like(values_NKM)
    drawn_RKM = bootstrap(values_NKM, ones_NKM, 10_000, 0)
    for k, name in enumerate(scores):
        figures = {
            metric: [float(values_NKM[:, k, m].mean()), *interval(drawn_RKM[:, k, m])]
            for m, metric in enumerate(METRICS)
        }
        print(json.dumps({"system": name, **figures, **facts[name], "samples": rows[name][:3]}))
    parts = {name: np.stack([f, np.ones_like(f)], 1) for name, f in scores.items()}
    for one, other in (
        ("pointer", "no-pointer"), ("pointer", "untrained"), ("pointer", "lead3"),
    ):  # fmt: skip
        p = randomisation_p(parts[one], parts[other], 10_000, 0).tolist()
        gap = (scores[one] - scores[other]).mean(0).tolist()
        print(
            json.dumps({"difference": f"{one} - {other}", "metrics": METRICS, "gap": gap, "p": p})
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
