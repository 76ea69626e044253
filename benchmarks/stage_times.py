"""Wall and CPU seconds of each stage of a build, and how evenly its workers shared the work.

The CPU time of the driver, the workers and all their children is sampled while the build runs. The
share of the busiest worker does not depend on what else the machine does, as wall time does. A
worker counts with the processes above it, such as the one that loads a model before it forks the
workers, since it waits for them.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

_EVERY_SECONDS = 0.5

Usage = dict[tuple[int, float], float]  # CPU seconds so far by process id and start


class StageTime(NamedTuple):
    """A stage: `parallel` is the CPU time of all workers over that of the longest chain of them."""

    stage: str
    wall: float
    cpu: float
    parallel: float


class Watch:
    """CPU seconds of processes and their descendants, sampled from `start` to `stop`."""

    def __init__(self, driver: int, workers: Iterable[int]) -> None:
        self.driver = driver
        self._roots = (driver, *workers)
        self._samples: list[tuple[float, Usage]] = [(time.time(), {})]
        self.parents: dict[int, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more samples."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            usage = dict(self._samples[-1][1])  # with processes that have ended
            for process in _alive(self._roots):
                with contextlib.suppress(psutil.Error), process.oneshot():
                    times = process.cpu_times()
                    usage[process.pid, process.create_time()] = times.user + times.system
                    self.parents.setdefault(process.pid, process.ppid())
            self._samples.append((time.time(), usage))

    def at(self, moment: float) -> Usage:
        """Return what each process had used at a moment, by the sample before it."""
        before = [usage for taken, usage in self._samples if taken <= moment]
        return before[-1] if before else {}


def _alive(roots: Iterable[int]) -> Iterator[psutil.Process]:
    for pid in roots:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            yield process
            yield from process.children(recursive=True)


def stage_times(out: Path, watch: Watch) -> list[StageTime]:
    """Return the stages of a finished build in their order."""
    paths = sorted(out.glob(".work/*.json"), key=lambda path: path.stat().st_mtime)
    found = []
    for path in paths:
        record = json.loads(path.read_text())
        if "seconds" not in record:
            continue
        end = path.stat().st_mtime
        begun, ended = watch.at(end - record["seconds"]), watch.at(end)
        used = {who: seconds - begun.get(who, 0.0) for who, seconds in ended.items()}
        parallel = _parallel({pid: s for (pid, _), s in used.items() if pid != watch.driver}, watch)
        found.append(StageTime(record["stage"], record["seconds"], sum(used.values()), parallel))
    return found


def _parallel(workers: dict[int, float], watch: Watch) -> float:
    """Return the CPU time of the workers over that of the busiest one with those above it."""

    def chain(pid: int) -> float:
        return workers[pid] + chain(watch.parents[pid]) if pid in workers else 0.0

    busiest = max(map(chain, workers), default=0.0)
    return sum(workers.values()) / busiest if busiest > 0.5 else 1.0


def table(times: dict[str, list[StageTime]], base: str, min_seconds: float) -> str:
    """Return Markdown: stages that took `min_seconds` with the engine `base`, per engine."""
    walls = {each.stage: each.wall for each in times[base]}
    lines = ["| stage | engine | wall s | CPU s | times as fast | parallel |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for stage, wall in walls.items():
        for engine, of_engine in times.items():
            for each in of_engine:
                if each.stage == stage and wall >= min_seconds:
                    lines.append(
                        f"| {stage} | {engine} | {each.wall:.1f} | {each.cpu:.1f} "
                        f"| {wall / max(each.wall, 0.1):.2f} | {each.parallel:.2f} |"
                    )
    return "\n".join(lines)
