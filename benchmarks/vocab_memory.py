"""Measure the memory and CPU time of training a vocabulary, by the number of characters.

    python -m benchmarks.vocab_memory FILE ... [--characters 5e6 10e6 20e6]

The files are plain text, a text per line. Each size runs in a process of its own; the memory is the
peak of the process, less that of a process that only loads the modules.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from wikisum.pipeline.examples.subwords import sampled
from wikisum.ranker.data.vocab import train_vocab


def texts(paths: list[Path]) -> Iterator[str]:
    """Yield the lines of the files."""
    for path in paths:
        with path.open(encoding="utf-8", errors="replace") as file:
            yield from file


def measure(paths: list[Path], chars: int, vocab_size: int) -> None:
    """Train on so many characters, none for 0; print characters, peak bytes and CPU seconds."""
    kept = sampled(texts(paths), 1.0, chars) if chars else []
    start = time.process_time()
    if kept:
        train_vocab(iter(kept), vocab_size)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(sum(map(len, kept)), peak, f"{seconds:.1f}")


def main() -> None:
    """Print a table of the sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--characters", nargs="+", type=float, default=[5e6, 10e6, 20e6])
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--one", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one is not None:
        measure(args.files, int(args.one), args.vocab_size)
        return
    base = 0
    print("| characters | peak MB | bytes per character | CPU s |\n| --- | --- | --- | --- |")
    for chars in [0, *args.characters]:
        command = [sys.executable, "-m", "benchmarks.vocab_memory", *map(str, args.files)]
        command += ["--one", str(chars), "--vocab-size", str(args.vocab_size)]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        taken, peak, seconds = out.split()
        base = base or int(peak)
        per_char = (int(peak) - base) / max(int(taken), 1)
        print(f"| {int(taken):,} | {int(peak) / 1e6:,.0f} | {per_char:.1f} | {seconds} |")


if __name__ == "__main__":
    main()
