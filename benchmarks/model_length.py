"""Time and peak memory of a training step as the input grows, for each model at small width.

    python -m benchmarks.model_length [--out benchmarks/model_length.png]
    python -m benchmarks.model_length --model T-DMCA --width 512

One example per batch with a target of 100 subwords, width 64 (or `--width`), 5 layers, forward and
backward pass in fp32 on one thread. Seconds are this process's CPU, the lesser of two steps (from
4,000 tokens on, of one). Each model is measured in a process of its own, from the shortest input to
the longest. Memory is the peak of that process less its memory before the first step. With
`--model` one model is measured; its seconds and MiB are printed, and the shares of the terms of a
fit a + b N + c N^2 to the seconds.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy.optimize import nnls

from wikisum.models.bench import at_width
from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.recurrent.lstm_attention import LstmSettings
from wikisum.models.table import build

LENGTHS = 500, 1_000, 2_000, 4_000, 8_000, 11_000
SHAPE: dict[str, Any] = {"vocab_size": 1_000, "width": 64, "feedforward": 256, "heads": 4}
DECODER = DecoderOnlySettings(**SHAPE)
MODELS: dict[str, Any] = {
    "seq2seq-att": LstmSettings(vocab_size=1_000, embedding=64, width=64),
    "T-ED, FT": FlatSettings(**SHAPE, encoder_layers=3, decoder_layers=2),
    "HT": HierarchicalSettings(**SHAPE, layers="LLG", decoder_layers=2),
    "T-D": replace(DECODER, layers="FFFFF"),
    "T-DMCA": DECODER,
    "T-DMCA, L layers alone": replace(DECODER, layers="LLLLL"),
    "T-DMCA, M layers alone": replace(DECODER, layers="MMMMM"),
    "T-DMCA, 16 experts": replace(DECODER, feedforwards="DDEDD", experts=16),
    "Transformer-XL": replace(DECODER, layers="XXXXX", block=512),
}
PARAGRAPH, TARGET = 100, 100


def measured(name: str, width: int) -> list[tuple[float, float]]:
    """Seconds and MiB of a step at each length."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = build(at_width(MODELS[name], width)).train()
    rng = np.random.default_rng(0)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = []
    for length in LENGTHS:
        ids = rng.integers(6, 1_000, length).astype(np.uint16)
        paragraphs = [ids[i : i + PARAGRAPH] for i in range(0, length, PARAGRAPH)]
        source = paragraphs if name == "HT" else [ids]
        batch = collate([source], [rng.integers(6, 1_000, TARGET)], [0])
        seconds = []
        for _ in range(2 if length < 4_000 else 1):
            before = time.process_time()
            loss = model(batch, 0.1)
            (loss.total / loss.predictions).backward()
            seconds.append(time.process_time() - before)
            model.zero_grad(set_to_none=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found.append((min(seconds), (peak - start) / 1_024))
    return found


def growth(values: list[float]) -> float:
    """The exponent of growth over the last step of lengths that doubles, 4,000 to 8,000."""
    return float(np.log2(values[4] / values[3]))


def fit(seconds: list[float]) -> dict[int, list[float]]:
    """The shares of the constant, linear and quadratic term of a fit, at each length.

    The squared relative errors are least, and no term is negative.
    """
    terms = np.array([[1, n, n * n] for n in LENGTHS], dtype=float)
    relative = terms / np.array(seconds)[:, None]
    scale = relative.max(0)
    factors, _ = nnls(relative / scale, np.ones(len(LENGTHS)))
    parts = terms * (factors / scale)
    return {
        n: (part / part.sum()).round(3).tolist() for n, part in zip(LENGTHS, parts, strict=True)
    }


def plot(table: dict[str, list[tuple[float, float]]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, column, label in zip(axes, (0, 1), ("seconds", "MiB"), strict=True):
        for name, rows in table.items():
            axis.loglog(LENGTHS, [row[column] for row in rows], marker="o", label=name)
        axis.set(xlabel="source tokens", ylabel=f"{label} per training step")
        axis.set_xticks(LENGTHS, [f"{length:,}" for length in LENGTHS])
        axis.minorticks_off()
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, help="measure one model, print JSON")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--out", default="benchmarks/model_length.png")
    args = parser.parse_args()
    if args.model:
        rows = measured(args.model, args.width)
        print(json.dumps({"steps": rows, "fit": fit([second for second, _ in rows])}))
        return
    table = {}
    for name in MODELS:
        words = [sys.executable, "-m", "benchmarks.model_length", "--model", name]
        words += ["--width", str(args.width)]
        out = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        table[name] = [tuple(row) for row in json.loads(out)["steps"]]
        print(name, table[name], file=sys.stderr, flush=True)
    for column, unit in enumerate(("seconds", "MiB")):
        print(f"| {unit} | {' | '.join(f'{length:,}' for length in LENGTHS)} | exponent |")
        print("| --- " * (len(LENGTHS) + 2) + "|")
        for name, rows in table.items():
            values = [row[column] for row in rows]
            cells = [f"{value:.3g}" if column == 0 else f"{value:,.0f}" for value in values]
            print(f"| {name} | {' | '.join(cells)} | {growth(values):.2f} |")
        print()
    print(json.dumps({"steps": table, "machine": platform.machine(), "torch": torch.__version__}))
    plot(table, args.out)


if __name__ == "__main__":
    main()
