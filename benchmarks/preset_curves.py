"""Does each preset of the papers learn at its full depth? A short run of each, at small width.

    python -m benchmarks.topics --facts 3 --distractors 6 --articles 3000 --out out/topics
    python -m benchmarks.preset_curves --data out/topics [--seconds 300] [--width 64]

The rate is that of the preset times the ratio of its width to that of the run: then an update of
Adam changes the activations as much as at full width (Yang et al. 2022), so a run that learns here
speaks for the full one. The rate of Adagrad stays as it is. A third of the steps are the warm-up,
against a hundredth in the papers, which makes it harder. There are at most 8 experts, and models
with a vocabulary of words read subwords here. A run ends after `--steps` or `--seconds`.

Adds a JSON line per run to `--out`, leaves out runs that are in the file, then draws all.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from wikisum.models.bench import at_width
from wikisum.models.data.batches import SplitReader
from wikisum.models.settings.run import RunSettings, changed
from wikisum.models.table import preset, presets, spec_of
from wikisum.models.training.stall import frequency_loss, is_stuck
from wikisum.models.training.train import Stopping, Trainer
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.runs.training_log import read_log

EXPERTS = 8


class OutOfTime(Stopping):
    """Stops a run after some CPU seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.end = time.process_time() + seconds

    def now(self, processes: Any) -> bool:
        return time.process_time() > self.end


def settings_of(name: str, args: argparse.Namespace) -> RunSettings:
    """Return the preset at the width, the rate and the number of steps of this benchmark."""
    full = preset(name)
    model = at_width(full.model, args.width or full.model.width)
    own = {field.name for field in fields(model)}
    scale = 1.0 if full.train.optimizer == "adagrad" else full.model.width / model.width
    values: dict[str, Any] = {
        "vocab_size": load_model(find_vocab(args.data), args.data).get_piece_size(),
        "peak_learning_rate": full.train.peak_learning_rate * scale,
        "warmup_steps": args.steps // 3, "steps": args.steps, "batch_tokens": args.batch_tokens,
        "update_batches": 1, "loader_workers": 0, "log_every": max(1, args.steps // 30),
        "validate_every": args.steps + 1, "seed": args.seed, "source_tokens": 600,
        "precision": args.precision,
    }  # fmt: skip
    if "experts" in own:
        values["experts"] = min(model.experts, EXPERTS)
    if "words" in own:
        values["words"] = 0
    return changed(RunSettings(model, full.source, full.train, full.decoding), values)


def reader_of(args: argparse.Namespace, settings: RunSettings) -> tuple[RunSettings, SplitReader]:
    """Return the reader of the training split, and the settings completed by its lengths."""
    vocabulary = Subwords(load_model(find_vocab(args.data), args.data))
    shards = split_shards(args.data, "train")
    reader = SplitReader(shards, settings.model, settings.source, vocabulary)
    measure = spec_of(settings.model).measure
    if measure is None:
        return settings, reader
    lengths = reader.lengths()
    settings = replace(settings, model=measure(settings.model, lengths.source, lengths.target))
    return settings, SplitReader(shards, settings.model, settings.source, vocabulary)


def guessing_loss(reader: SplitReader) -> float:
    """Return the loss of guessing the subwords of leads by their frequency."""
    batch = reader.batch(np.arange(min(500, len(reader))))
    return frequency_loss(torch.bincount(batch.label_Y))


def record(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Train a preset; return its curve and what it was trained with."""
    settings, reader = reader_of(args, settings_of(name, args))
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Path(folder) / "run", settings, reader)
        trainer.fit(io.StringIO(), OutOfTime(args.seconds))
        rows = [row for row in read_log(trainer.run) if "loss" in row]
    guess, own = guessing_loss(reader), settings.train
    return {
        "preset": name, "width": settings.model.width,
        "seed": args.seed, "precision": args.precision, "step": trainer.step,
        "steps": own.steps, "warmup_steps": own.warmup_steps,
        "peak_learning_rate": own.peak_learning_rate, "batch_tokens": own.batch_tokens,
        "cpu_seconds": round(time.process_time() - start, 1), "guessing_loss": round(guess, 3),
        "stuck": is_stuck(rows, own.warmup_steps, guess),
        "curve": [[row["step"], round(row["loss"], 3)] for row in rows],
    }  # fmt: skip


def plot(runs: list[dict[str, Any]], path: Path) -> None:
    """Draw the curves by package of the model: presets that learn as lines, literal ones dashed."""
    import matplotlib.pyplot as plt

    families: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        package = type(preset(run["preset"]).model).__module__.split(".")[2]
        families.setdefault(package, []).append(run)
    figure, axes = plt.subplots(
        -(-len(families) // 2), 2, figsize=(11, 11), layout="constrained", sharey=True
    )
    for axis, (package, members) in zip(axes.flat, families.items(), strict=False):
        for index, run in enumerate(members):
            style = "--" if "literal" in run["preset"] or index >= 10 else "-"
            steps, losses = zip(*run["curve"], strict=True)
            axis.plot(steps, losses, style, label=run["preset"], color=f"C{index % 10}")
        axis.axhline(runs[0]["guessing_loss"], color="gray", linewidth=0.8)
        axis.set(title=package.replace("_", " "), xlabel="update", ylabel="loss, nats per subword")
        axis.legend(fontsize=7, ncols=2)
    for axis in axes.flat[len(families) :]:
        axis.set_visible(False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    large = [name for name in presets() if not name.startswith("tiny")]
    parser.add_argument("--data", required=True)
    parser.add_argument("--presets", default=",".join(large), help="names, separated by commas")
    parser.add_argument("--width", type=int, default=64, help="0: the width of the preset")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--seconds", type=float, default=300, help="CPU seconds of a run at most")
    parser.add_argument("--batch-tokens", type=int, default=800)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/preset_curves.jsonl"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    lines = args.out.read_text().splitlines() if args.out.exists() else []
    runs = [json.loads(line) for line in lines]
    done = {
        (run["preset"], run["width"], run["seed"], run.get("precision", "fp32")) for run in runs
    }
    for name in args.presets.split(","):
        width = args.width or preset(name).model.width
        if (name, width, args.seed, args.precision) in done:
            continue
        runs.append(record(name, args))
        with args.out.open("a") as file:
            file.write(json.dumps(runs[-1]) + "\n")
        run = {key: value for key, value in runs[-1].items() if key != "curve"}
        sys.stdout.write(f"{run} {runs[-1]['curve'][-1][1]}\n")
    if runs:
        plot(runs, args.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
