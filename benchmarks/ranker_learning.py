"""Does the learned ranker learn what no word overlap tells, for articles that it has not seen?

    python -m benchmarks.ranker_learning [--picture FILE.png] [--steps N] [--threads N]

Makes the learnable set of `benchmarks.topics`, trains the preset `tiny` on it, judges every method
on its test articles, and draws the curve of the training. Processor time is that of this process
alone, all threads together.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.topics import TopicSettings, write_topics
from wikisum.ranker.evaluate import evaluate_ranking, markdown
from wikisum.ranker.learned.settings import PRESETS
from wikisum.ranker.learned.train import train
from wikisum.ranker.rank import LEARNED
from wikisum.ranker.runs.training_log import read_log

METHODS = ["random", "tfidf", "tfidf_cosine", "textrank", "lexrank", "sumbasic", "oracle"]


def validations(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the log that hold a validation."""
    return [row for row in rows if "validation_loss" in row]


def draw(rows: list[dict[str, Any]], recalls: dict[str, float], path: Path) -> None:
    """The curve of recall and loss, with the other methods' recall as lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    validated, trained = validations(rows), [row for row in rows if "loss" in row]
    steps = [row["step"] for row in validated]
    left.plot(
        steps, [100 * row["rougeL_recall_5"] for row in validated], color="black", label=LEARNED
    )
    for number, method in enumerate(("oracle", "random", "tfidf")):
        left.axhline(recalls[method], color=f"C{number}", linestyle="--", label=method)
    left.set(xlabel="step", ylabel="ROUGE-L recall of the best 5 paragraphs, %")
    left.legend(loc="center right")
    right.plot(
        [row["step"] for row in trained],
        [row["loss"] for row in trained],
        label="training, with dropout",
    )
    right.plot(steps, [row["validation_loss"] for row in validated], label="validation")
    right.set(xlabel="step", ylabel="cross-entropy, nats a paragraph")
    right.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--articles", type=int, default=4000)
    parser.add_argument("--steps", type=int, default=PRESETS["tiny"][1].steps)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model, fit = PRESETS["tiny"]
    with tempfile.TemporaryDirectory() as folder:
        data, run = Path(folder, "topics"), Path(folder, "run")
        write_topics(data, args.articles, TopicSettings())
        start, cpu = time.monotonic(), time.process_time()
        train(str(data), run, model, replace(fit, steps=args.steps), "cpu", sys.stderr)
        seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
        curve = read_log(run)
        rows = evaluate_ranking(str(data), "test", run, METHODS)
    recalls = {row["method"]: row["rougeL_recall"]["5"] for row in rows if "rougeL_recall" in row}
    if args.picture:
        draw(curve, recalls, args.picture)
    print(markdown(rows))
    print(f"training: {seconds:.0f} s, {cpu_seconds:.0f} s of the processor; over tfidf at L' = 5: "
          f"{recalls[LEARNED] - recalls['tfidf']:.2f} points")  # fmt: skip
    print(
        json.dumps(
            {
                "benchmark": "ranker_learning",
                "training_seconds": round(seconds, 1),
                "training_cpu_seconds": round(cpu_seconds, 1),
                "rougeL_recall_5": recalls,
                "curve": [
                    [
                        row["step"],
                        *(round(row[k], 4) for k in ("validation_loss", "rougeL_recall_5")),
                    ]
                    for row in validations(curve)
                ],
                "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
                f"Python {platform.python_version()}, torch {torch.__version__}",
                "command": " ".join(["python", "-m", "benchmarks.ranker_learning", *sys.argv[1:]]),
            }
        )
    )


if __name__ == "__main__":
    main()
