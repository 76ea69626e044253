"""How many examples a second the loader makes, what a plan costs, and how memory grows with data.

    python -m benchmarks.loader [--rows 16384] [--seconds 20]

Synthetic shards (random ids; lengths like those of WikiSum at the papers' cut) are written to a
temporary folder. Batches are those of `ht-paper`. Seconds of the machine where processes work side
by side, seconds of this process's CPU elsewhere. The plain loader reads the same shards with
`datasets`-like means: a pandas table a file, rows shuffled, lists padded by `torch`.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from wikisum.models.bench import FIRST_TEXT_ID, token_count
from wikisum.models.data.batches import SplitReader
from wikisum.models.table import preset
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.training.loader import Loader
from wikisum.ranker.training.plan import Cursor, Lengths, batches_from, epoch_batches

ROWS_A_FILE, ROWS_A_GROUP = 2_048, 512
PRESET = preset("ht-paper")


def drawn_lengths(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(paragraphs, their tokens one after the other, tokens of leads)."""
    paragraphs = rng.integers(10, 41, rows)
    tokens = np.clip(rng.lognormal(4.1, 0.6, paragraphs.sum()), 6, 400).astype(np.int64)
    leads = np.clip(rng.lognormal(4.6, 0.6, rows), 10, 500).astype(np.int64)
    return paragraphs, tokens, leads


def lists(lengths: np.ndarray, values: pa.Array) -> pa.ListArray:
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values)


def ids(rng: np.random.Generator, lengths: np.ndarray) -> pa.ListArray:
    """A column of lists of drawn ids."""
    drawn = rng.integers(FIRST_TEXT_ID, 32_000, lengths.sum()).astype(np.uint16)
    return lists(lengths, pa.array(drawn))


def write_shards(folder: Path, rows: int) -> None:
    """Shards with the columns that the loader reads."""
    count = -(-rows // ROWS_A_FILE)
    for number in range(count):
        rng = np.random.default_rng([0, number])
        size = min(ROWS_A_FILE, rows - number * ROWS_A_FILE)
        paragraphs, tokens, leads = drawn_lengths(rng, size)
        table = pa.table({
            "title_ids": ids(rng, rng.integers(2, 9, size)),
            "lead_ids": ids(rng, leads),
            "paragraph_ids": lists(paragraphs, ids(rng, tokens)),
        })  # fmt: skip
        name = f"train-{number:05}-of-{count:05}.parquet"
        pq.write_table(table, folder / name, row_group_size=ROWS_A_GROUP, compression="zstd")


def reader_of(folder: Path) -> SplitReader:
    return SplitReader(split_shards(str(folder), "train"), PRESET.model, PRESET.source)


def own_batches(folder: Path, workers: int) -> Iterator[tuple[int, int]]:
    """(examples, tokens) of each batch."""
    reader = reader_of(folder)
    planned = batches_from(reader.lengths(), PRESET.train.batch_tokens, 0, Cursor())
    loader = Loader(reader, workers, torch.device("cpu"))
    for batch in loader.load(examples for _, examples in planned):
        yield len(batch.example_B), token_count(batch)


def plain_batches(folder: Path) -> Iterator[tuple[int, int]]:
    """What one writes first: a table a file, lists cut and padded, eight examples a batch."""
    source = PRESET.source
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path).sample(frac=1, random_state=0)
        for start in range(0, len(frame), 8):
            rows = frame.iloc[start : start + 8]
            paragraphs = [
                [torch.tensor(list(p))[: source.paragraph_tokens] for p in row]
                for row in (r[: source.max_paragraphs] for r in rows["paragraph_ids"])
            ]
            leads = [torch.tensor(list(lead))[: source.lead_tokens] for lead in rows["lead_ids"]]
            longest = max(len(p) for row in paragraphs for p in row)
            shape = len(rows), max(map(len, paragraphs)), longest
            padded = torch.zeros(shape, dtype=torch.long)
            for r, row in enumerate(paragraphs):
                for i, paragraph in enumerate(row):
                    padded[r, i, : len(paragraph)] = paragraph
            torch.nn.utils.rnn.pad_sequence(leads, batch_first=True)
            yield len(rows), int((padded != 0).sum()) + sum(map(len, leads))


def rate(batches: Iterator[tuple[int, int]], seconds: float) -> dict[str, float]:
    """Examples, batches and tokens a second, after the first batch; and the time to that one."""
    start = time.monotonic()
    next(batches)
    first, cpu = time.monotonic(), time.process_time()
    examples = count = tokens = 0
    for size, real in batches:
        examples, tokens, count = examples + size, tokens + real, count + 1
        if time.monotonic() - first > seconds:
            break
    wall, own = time.monotonic() - first, time.process_time() - cpu
    return {
        "first_seconds": first - start, "examples": examples / wall, "batches": count / wall,
        "tokens": tokens / wall, "examples_of_cpu": examples / own,
    }  # fmt: skip


def planning(rows: int) -> dict[str, float]:
    """CPU seconds to plan an epoch of so many rows, and MB of the lengths."""
    rng = np.random.default_rng(0)
    source = np.minimum(rng.lognormal(7.0, 0.5, rows), 1_600).astype(np.int64)
    target = np.clip(rng.lognormal(4.6, 0.6, rows), 10, 401).astype(np.int64)
    groups = np.full(rows // ROWS_A_GROUP, ROWS_A_GROUP)
    groups[-1] += rows - groups.sum()
    lengths = Lengths(source, target, groups)
    start = time.process_time()
    batches = list(epoch_batches(lengths, PRESET.train.batch_tokens, 0, 0))
    seconds = time.process_time() - start
    return {"rows": rows, "seconds": seconds, "batches": len(batches)}


def peak_of(folder: Path) -> float:
    """MB: the peak of a process that reads one epoch, at most 300 batches."""
    code = (
        "import itertools, resource, sys; from pathlib import Path; from benchmarks import loader\n"
        "own = loader.own_batches(Path(sys.argv[1]), 0)\n"
        "sum(1 for _ in itertools.islice(own, 300))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def resumed(folder: Path) -> dict[str, float]:
    """CPU seconds from nothing to the first batch, at the start and in mid-epoch."""
    reader = reader_of(folder)
    start = time.process_time()
    lengths = reader.lengths()
    read = time.process_time() - start
    middle = len(list(epoch_batches(lengths, PRESET.train.batch_tokens, 0, 0))) // 2
    found = {"lengths_seconds": read}
    for name, place in (("start", Cursor()), ("mid_epoch", Cursor(0, middle))):
        fresh = reader_of(folder)
        begin = time.process_time()
        _, examples = next(batches_from(lengths, PRESET.train.batch_tokens, 0, place))
        fresh.batch(examples)
        found[f"{name}_seconds"] = time.process_time() - begin
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=16_384)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        small, large = Path(name, "small"), Path(name, "large")
        for folder, rows in ((small, args.rows // 8), (large, args.rows)):
            folder.mkdir()
            write_shards(folder, rows)
        print(f"{'loader':<24}{'examples/s':>12}{'of CPU':>10}{'batches/s':>11}{'first, s':>10}")
        rates = {"plain, pandas": rate(plain_batches(large), args.seconds)}
        for workers in (0, 1, 2):
            rates[f"ours, {workers} workers"] = rate(own_batches(large, workers), args.seconds)
        for title, row in rates.items():
            own = f"{row['examples_of_cpu']:>10,.0f}" if "0 w" in title or "plain" in title else ""
            print(
                f"{title:<24}{row['examples']:>12,.0f}{own:>10}{row['batches']:>11,.1f}"
                f"{row['first_seconds']:>10.2f}"
            )
        found = {"rates": rates, "plan": planning(1_000_000), "resume": resumed(large)}
        found["peak_mb"] = {"1x": peak_of(small), "8x": peak_of(large)}
    print(f"plan of 1,000,000 rows: {found['plan']}\nfrom nothing: {found['resume']}")
    print(f"peak, MB: {found['peak_mb']}")
    about = {"cores": os.cpu_count(), "machine": platform.machine(), "torch": torch.__version__}
    print(json.dumps({**found, "args": vars(args), **about}))


if __name__ == "__main__":
    main()
