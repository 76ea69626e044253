"""The speed of a core while a process runs on it, so that its CPU time can be scaled.

    python -m benchmarks.speed_samples PID

Other work on a machine makes a core slower by up to two times, and that changes within seconds.
This process must run on the same core as the other one. Every 0.1 seconds it prints a line: the
CPU time of the other process so far, and the speed of the core.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil

from wikisum.pipeline.estimate.speed import core_speed

EVERY_SECONDS = 0.1
NEIGHBORS = 1  # on each side, of which a sample takes the median


class SpeedSample(NamedTuple):
    """The CPU time of a process when the speed of its core was measured."""

    cpu_seconds: float
    speed: float


def process_cpu_seconds(pid: int) -> float:
    """Return the CPU time so far of a process, its living children, and theirs that have ended."""
    seconds = time.clock_gettime((~pid << 3) | 2)  # the clock ID of clock_getcpuclockid(3)
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                with contextlib.suppress(OSError):
                    seconds += process_cpu_seconds(int(child))
    return seconds


def read_samples(lines: Sequence[str]) -> list[SpeedSample]:
    """Return the samples of the printed lines; each speed is the median of it and its neighbors."""
    pairs = [(float(cpu), float(speed)) for cpu, speed in map(str.split, lines)]
    cpus = accumulate((cpu for cpu, _ in pairs), max)  # ended children count in whole ticks
    speeds = [speed for _, speed in pairs]
    return [
        SpeedSample(cpu, median(speeds[max(i - NEIGHBORS, 0) : i + NEIGHBORS + 1]))
        for i, cpu in enumerate(cpus)
    ]


def scaled_seconds(samples: Sequence[SpeedSample], start: float, end: float) -> float:
    """Return the CPU time from `start` to `end` times the speed of the core at each moment.

    Between two samples the speed is their mean; before the first and after the last it is theirs.
    Raises ValueError without any sample.
    """
    if not samples:
        raise ValueError("no samples of the core's speed")
    cpus = [sample.cpu_seconds for sample in samples]
    inner = cpus[bisect_left(cpus, start) : bisect_left(cpus, end)]
    return sum(
        (after - before) * _speed_at(samples, cpus, (before + after) / 2)
        for before, after in pairwise([start, *inner, end])
    )


@contextlib.contextmanager
def sampling(pid: int, cores: Sequence[int]) -> Iterator[list[list[SpeedSample]]]:
    """Sample the speeds of cores in processes of their own until process `pid` has ended.

    Yields an empty list. When the block ends, it has the samples of each core.
    """
    taken: list[list[SpeedSample]] = []
    command = [sys.executable, "-m", "benchmarks.speed_samples", str(pid)]
    with contextlib.ExitStack() as stack:
        # files, since a pipe would be full after some minutes
        printed = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in cores]
        samplers = [
            subprocess.Popen(command, stdout=out, preexec_fn=pinned_to([core]))
            for core, out in zip(cores, printed, strict=True)
        ]
        yield taken
        for sampler, out in zip(samplers, printed, strict=True):
            sampler.wait()
            out.seek(0)
            taken.append(read_samples(out.read().splitlines()))


def pinned_to(cores: Sequence[int]) -> partial[None]:
    """Return a function that pins the process that calls it, and its children, to cores."""
    return partial(os.sched_setaffinity, 0, set(cores))


def idlest_core() -> int:
    """Return the number of the core that was idle the most for 0.5 s, of those we may use."""
    idle = psutil.cpu_times_percent(0.5, percpu=True)
    return max(os.sched_getaffinity(0), key=lambda core: idle[core].idle)


def _speed_at(samples: Sequence[SpeedSample], cpus: list[float], moment: float) -> float:
    index = bisect_left(cpus, moment)
    near = samples[max(index - 1, 0) : index + 1]
    return sum(sample.speed for sample in near) / len(near)


def main() -> None:
    """Print samples until the process has ended."""
    pid = int(sys.argv[1])
    while True:
        time.sleep(EVERY_SECONDS)
        core_speed(1)  # the first round is slower: the caches hold the other process's data
        speed = core_speed(1)
        try:
            seconds = process_cpu_seconds(pid)
        except OSError:
            return
        print(f"{seconds:.6f} {speed:.4f}", flush=True)


if __name__ == "__main__":
    main()
