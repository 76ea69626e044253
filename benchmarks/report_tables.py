"""How long the driver takes to read the small tables of the report, one or 16 at a time?

    python -m benchmarks.report_tables [--files 400] [--rows 4096] [--milliseconds 20]

Writes tables of the sizes of examples to a folder, and to a store on this machine that waits before
each answer as a remote one would. Prints wall and CPU seconds, of the store too, which is a thread
of this process.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.object_stores import BUCKET, Buckets, served
from wikisum.pipeline.engine import shards
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import SIZES, Sizes
from wikisum.pipeline.report.sizes import read_sizes


def slow(seconds: float) -> Callable[[dict, Callable], Any]:
    """Return an empty store that waits before each answer."""
    buckets = Buckets()

    def answer(environ: dict, start_response: Callable) -> Any:
        time.sleep(seconds)
        return buckets(environ, start_response)

    return answer


def measure(out: str, files: int, rows: int) -> None:
    """Write the tables to a folder and print how long reading them takes."""
    paths = [f".work/sizes/train-{number:05d}-of-{files:05d}.parquet" for number in range(files)]
    for path in paths:
        with open_shard(out, path, SIZES, {}) as shard:
            for row in range(rows):
                shard.write(Sizes(f"{row:016x}", 80, 3, 900 + row, 0, 0, 10, 8_000, 500, 0.5))
    for readers in (1, 16, 1, 16):
        shards.READERS = shards.LOCAL_READERS = readers
        wall, cpu = time.monotonic(), time.process_time()
        read_sizes(Workspace(out), paths)
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        print(f"| {out.partition(':')[0]} | {readers} | {wall:.2f} | {cpu:.2f} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--rows", type=int, default=4_096)
    parser.add_argument("--milliseconds", type=float, default=20.0)
    args = parser.parse_args()
    print("| store | read at a time | wall s | CPU s |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        measure(folder, args.files, args.rows)
    with served(slow(args.milliseconds / 1000)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", store.address)
        measure(f"gs://{BUCKET}/out", args.files, args.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
