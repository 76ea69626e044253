"""How well does each method rank the paragraphs of real articles?

    python -m benchmarks.ranking_quality DATASET [--folds 5] [--steps 600]

DATASET is a build's output. All its articles are judged, those of all splits; the learned ranker
(preset `tiny`) judges each by a model that has not seen it: articles are dealt into folds, and for
each fold one is trained on the others. A build that keeps all paragraphs
(`wikisum build --max-paragraphs 30000`) leaves the methods the whole pool, as the paper has it.
"""

import argparse
import io
import json
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from wikisum.ranker.evaluate import evaluate_ranking, markdown
from wikisum.ranker.learned.settings import PRESETS
from wikisum.ranker.learned.train import train

Row = dict[str, Any]


def write_fold(table: pa.Table, number: int, folds: int, data: Path, out: Path) -> None:
    """A dataset whose test split is fold `number`, and validation the one behind it."""
    fold_of = [i % folds for i in range(len(table))]
    other = (number + 1) % folds
    chosen = {
        "test": [fold == number for fold in fold_of],
        "validation": [fold == other for fold in fold_of],
        "train": [fold not in (number, other) for fold in fold_of],
    }
    (out / "examples").mkdir(parents=True)
    for split, mask in chosen.items():
        path = out / "examples" / f"{split}-00000-of-00001.parquet"
        pq.write_table(table.filter(pa.array(mask)), path)
    shutil.copytree(data / "vocab", out / "vocab")


def combined(folds: list[list[Row]]) -> list[Row]:
    """The rows of several evaluations as one: means weighted by their numbers of articles."""
    total = sum(rows[0]["articles"] for rows in folds)

    def mean(parts: list[tuple[int, Any]]) -> Any:
        if isinstance(parts[0][1], dict):
            return {key: mean([(n, part[key]) for n, part in parts]) for key in parts[0][1]}
        return round(sum(n * value for n, value in parts) / total, 2)

    whole = []
    for rows in zip(*folds, strict=True):
        row: Row = {"method": rows[0]["method"], "articles": total}
        for key in rows[0].keys() - row.keys():
            row[key] = mean([(r["articles"], r[key]) for r in rows])
        whole.append(row)
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    torch.set_num_threads(1)  # enough for so small a model
    paths = sorted((args.dataset / "examples").glob("*.parquet"))
    table = pa.concat_tables([pq.read_table(path) for path in paths])
    table = table.sort_by("id")
    model, fit = PRESETS["tiny"]
    fit = replace(fit, steps=args.steps, validate_every=100)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.folds):
            data, run = Path(folder, f"fold{number}"), Path(folder, f"run{number}")
            write_fold(table, number, args.folds, args.dataset, data)
            train(str(data), run, model, fit, "cpu", io.StringIO())
            found.append(evaluate_ranking(str(data), "test", run))
            print(f"fold {number + 1} of {args.folds}", file=sys.stderr, flush=True)
    rows = combined(found)
    print(markdown(rows))
    print(
        json.dumps(
            {
                "benchmark": "ranking_quality",
                "rows": rows,
                "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
                f"Python {platform.python_version()}",
                "command": " ".join(["python", "-m", "benchmarks.ranking_quality", *sys.argv[1:]]),
            }
        )
    )


if __name__ == "__main__":
    main()
