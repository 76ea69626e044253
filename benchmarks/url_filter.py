"""What does the filter of wanted URLs cost at 90 million of them: to build, to hold, to ask?

    python -m benchmarks.url_filter [--urls 90000000]

The keys are random 64-bit numbers, as hashes of URLs are, in 560 sorted files, as the `wanted`
stage of 2.3 million articles leaves them. Each step is a process of its own, so that its peak
memory is its own. Times are CPU time.
"""

import argparse
import json
import mmap
import multiprocessing
import platform
import random
import resource
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from wikisum.crawl.urls import canonical_url, url_key
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.wanted.url_filter import FILTER, KEYS_FOLDER, BuildFilter, load_filter

FILES = 560
LOOKUPS = 1_000_000


def write_sorted_keys(folder: str, count: int) -> list[str]:
    """Distinct random keys, range by range; the paths of their files."""
    source = np.random.default_rng(0)
    paths = []
    (Path(folder) / KEYS_FOLDER).mkdir(parents=True)
    for index in range(FILES):
        low, high = ((i << 64) // FILES for i in (index, index + 1))
        size = (index + 1) * count // FILES - index * count // FILES
        keys = np.unique(source.integers(low, high, 2 * size, np.uint64))
        keys = np.sort(source.permutation(keys)[:size])
        paths.append(f"{KEYS_FOLDER}/{index:05d}.keys")
        keys.tofile(Path(folder) / paths[-1])
    return paths


def build(folder: str, paths: list[str], count: int) -> dict[str, float]:
    """CPU seconds, the peak of memory, and how far that is over what the imports take."""
    before = psutil.Process().memory_info().rss >> 10
    start = time.process_time()
    BuildFilter(folder, count, Ticker(None))(0, paths)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = (Path(folder) / FILTER).stat().st_size
    return {
        "seconds": round(seconds, 1),
        "peak_mb": peak >> 10,
        "peak_over_imports_mb": (peak - before) >> 10,
        "file_mb": round(size / 1e6, 1),
        "bytes_a_url": round(size / count, 3),
    }


def rate(call: Callable[[Any], bool], items: list[Any]) -> tuple[int, float]:
    """(calls a second of CPU time, share of them that gave True)."""
    start = time.process_time()
    found = sum(map(call, items))
    return round(len(items) / (time.process_time() - start)), found / len(items)


def ask(folder: str, sample: list[int]) -> dict[str, Any]:
    """Look-ups a second, false positives, and what the filter adds to the process's memory."""
    source = random.Random(1)
    strangers = [source.getrandbits(64) for _ in range(LOOKUPS)]
    urls = [f"https://www.{i % 977}.example/a/{i}?utm_source=x&b={i}" for i in range(200_000)]
    before = psutil.Process().memory_info()
    keys = load_filter(f"{folder}/{FILTER}", "bench")
    there, held = rate(keys.__contains__, sample)
    absent, false = rate(keys.__contains__, strangers)
    whole, _ = rate(lambda url: url_key(canonical_url(url)) in keys, urls)
    after = psutil.Process().memory_info()
    mapped = after.shared - before.shared
    return {
        "held": held,
        "false_positives": false,
        "lookups_per_second_held": there,
        "lookups_per_second_absent": absent,
        "urls_per_second_with_canonical_form": whole,
        "mapped_mb": mapped >> 20,
        "own_mb": (after.rss - before.rss - mapped) >> 20,
    }


def ask_sorted(folder: str, paths: list[str], sample: list[int]) -> dict[str, Any]:
    """The same of one mapped file of all keys, sorted, for comparison."""
    whole = Path(folder) / "sorted.keys"
    with whole.open("wb") as file:
        for path in paths:
            file.write((Path(folder) / path).read_bytes())
    with whole.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    view = memoryview(mapped).cast("Q")
    array = np.frombuffer(mapped, np.uint64)

    def by_bisect(key: int) -> bool:
        place = bisect_left(view, key)
        return place < len(view) and view[place] == key

    def by_numpy(key: int) -> bool:
        place = int(np.searchsorted(array, np.uint64(key)))
        return place < len(array) and int(array[place]) == key

    return {"bisect": rate(by_bisect, sample)[0], "numpy.searchsorted": rate(by_numpy, sample)[0]}


def main() -> None:
    """Print the table and its JSON line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--urls", type=int, default=90_000_000)
    count = parser.parse_args().urls
    context = multiprocessing.get_context("spawn")

    def alone(function: Callable[..., Any], *args: object) -> Any:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(function, *args).result()

    with tempfile.TemporaryDirectory() as folder:
        paths = write_sorted_keys(folder, count)
        source = np.random.default_rng(2)
        drawn = [
            source.choice(np.fromfile(Path(folder) / path, np.uint64), LOOKUPS // FILES)
            for path in paths
        ]
        sample = source.permutation(np.concatenate(drawn)).tolist()
        found = {"build": alone(build, folder, paths, count)}
        found["filter"] = alone(ask, folder, sample)
        found["sorted 64-bit keys"] = alone(ask_sorted, folder, paths, sample)
    print("| step | figure | value |\n| --- | --- | --- |")
    for step, figures in found.items():
        for name, value in figures.items():
            print(f"| {step} | {name.replace('_', ' ')} | {value:,} |")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(json.dumps({"benchmark": "url_filter", "urls": count, **found, "machine": machine}))


if __name__ == "__main__":
    main()
