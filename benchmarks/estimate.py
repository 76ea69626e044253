"""What an estimate states, and what the build then takes.

    python -m benchmarks.estimate [--runs N] --articles DUMP --warcs FILE ... [other flags of build]

Builds N times (1 by default) with one worker into a temporary folder, in a process of its own, and
states the median and the range of the CPU time of each stage. The process is pinned to one core,
and its CPU time is multiplied by the speed of that core, which `speed_samples` measures ten times
per second during the build: other work makes a core slower by up to two times. The other costs are
those of the last build. Shuffled bytes are those of the files through which joins go; disk is the
largest size of `.work/` so far; memory is the peak of the process in the stage; output is what the
manifest counts.
"""

import contextlib
import io
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.speed_samples import (
    idlest_core,
    pinned_to,
    process_cpu_seconds,
    sampling,
    scaled_seconds,
)
from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.engine import run
from wikisum.pipeline.joins.spill import SpillWriter

STAGES = {
    "templates": "articles", "template-store": "articles", "recurring": "examples",
    "filter": "scan",
}  # fmt: skip
FOLDERS = {
    "articles": "articles", "wanted": "wanted", "documents": "scan", "examples": "tokenize",
    "vocab": "vocab",
}  # fmt: skip


def folder_bytes(folder: Path) -> int:
    """The sizes of all files below a folder, some of which may vanish meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


class Watch:
    """Measures the stages as they end: the costs since the stage before are the next one's.

    `spans` has the CPU time of the process at the start and the end of each piece of a stage.
    """

    def __init__(self, work: Path) -> None:
        self.spans: list[tuple[str, float, float]] = []
        self.shuffled = Counter[str]()
        self.memory: dict[str, int] = {}
        self.disk: dict[str, int] = {}
        self._work = work
        self._spilled = self._disk = 0
        self._start = process_cpu_seconds(os.getpid())
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while True:
            self._disk = max(self._disk, folder_bytes(self._work))
            time.sleep(0.5)

    def end(self, stage: str) -> None:
        """Count what was taken since the last call as the stage's."""
        name = STAGES.get(stage, stage)
        self.spans.append((name, self._start, process_cpu_seconds(os.getpid())))
        self.shuffled[name] += self._spilled
        peak = next(x for x in Path("/proc/self/status").read_text().split("\n") if "VmHWM" in x)
        self.memory[name] = max(self.memory.get(name, 0), int(peak.split()[1]) * 1024)
        self.disk[name] = max(self._disk, folder_bytes(self._work))
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        self._start, self._spilled = process_cpu_seconds(os.getpid()), 0

    def spilled(self, close: Callable[[SpillWriter], None]) -> Callable[[SpillWriter], None]:
        """Return `close` that counts the bytes of the file."""

        def counting(writer: SpillWriter) -> None:
            close(writer)
            self._spilled += writer._file.tell()

        return counting


def measure(words: list[str]) -> None:
    """Build, and print what each stage took as JSON."""
    watch = Watch(Path(words[words.index("--out") + 1]) / ".work")
    run_pipeline, release_memory = run.run_pipeline, run._release_memory
    last = ""

    def watched(
        job: Any, construct: Any, parts: int, stage: str, *others: Any, **named: Any
    ) -> None:
        nonlocal last
        run_pipeline(job, construct, parts, stage, *others, **named)
        watch.end(stage)
        last = stage

    def released(seconds: float) -> None:
        release_memory(seconds)
        watch.end(last)  # after a long stage, collecting its garbage takes a quarter of a second

    run.run_pipeline, run._release_memory = watched, released
    SpillWriter.close = watch.spilled(SpillWriter.close)  # type: ignore[method-assign]
    code = wikisum(words)
    watch.end("report")
    names = ("spans", "shuffled", "memory", "disk")
    print(json.dumps({name: getattr(watch, name) for name in names}))
    sys.exit(code)


def output_bytes(out: Path) -> Counter[str]:
    """Bytes of the data by the stage that writes them."""
    sizes = Counter[str]()
    for path, result in json.loads((out / "manifest.json").read_text())["files"].items():
        folder, name = path.split("/")
        sizes[FOLDERS.get(folder) or name.split("-")[1]] += result["bytes"]
    return sizes


class Build(NamedTuple):
    """What a build took: scaled CPU seconds and other costs by stage, and the manifest's counts."""

    seconds: Counter[str]
    unscaled: Counter[str]
    costs: dict[str, dict[str, int]]
    sizes: Counter[str]
    counts: dict[str, dict[str, int]]


def build(words: list[str], out: Path) -> Build:
    """Build into `out` in a process on the idlest core, beside one that samples its speed."""
    core = idlest_core()
    module = [sys.executable, "-m", "benchmarks.estimate"]
    command = [*module, "--measure", "build", *words, "--out", str(out)]
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, preexec_fn=pinned_to([core])
        ) as built,
        sampling(built.pid, [core]) as samples,
    ):
        output = built.communicate()[0]
    if built.returncode:
        raise SystemExit(built.returncode)
    costs = json.loads(output.splitlines()[-1])
    seconds, unscaled = Counter[str](), Counter[str]()
    for stage, start, end in costs.pop("spans"):
        seconds[stage] += scaled_seconds(samples[0], start, end)
        unscaled[stage] += end - start
    counts = json.loads((out / "manifest.json").read_text())["counts"]
    return Build(seconds, unscaled, costs, output_bytes(out), counts)


def stated_costs(words: list[str], out: Path) -> dict[str, Any]:
    """Return what `--estimate` states for the reference core, and the CPU time that it took."""
    result = io.StringIO()
    start = process_cpu_seconds(os.getpid())
    flags = ["build", *words, "--out", str(out), "--estimate", "--json", "--assume", "speed=1"]
    with contextlib.redirect_stdout(result):
        code = wikisum(flags)
    if code:
        raise SystemExit(code)
    return {
        **json.loads(result.getvalue()),
        "own_seconds": process_cpu_seconds(os.getpid()) - start,
    }


def print_times(stated: dict[str, Any], builds: list[Build]) -> list[tuple[Any, ...]]:
    """Print and return the CPU time of each stage: stated, the median, the range, the ratio."""
    rows = []
    print("| stage | CPU s | real | from | to | stated / real | not scaled, from | to |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for cost in stated["stages"]:
        name, cpu = cost["stage"], cost["cpu_seconds"]
        real = [each.seconds[name] for each in builds]
        raw = [each.unscaled[name] for each in builds]
        middle = median(real)
        row = (cpu, middle, min(real), max(real), cpu / middle, min(raw), max(raw))
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in row) + " |")
        rows.append((name, *row))
    return rows


def print_bytes(stated: dict[str, Any], last: Build) -> None:
    """Print the other costs of each stage, stated and real."""
    shuffled, memory, disk = (last.costs[name] for name in ("shuffled", "memory", "disk"))
    print("\n| stage | shuffle MB | real | output MB | real | memory MB | real |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for cost in stated["stages"]:
        name = cost["stage"]
        sizes = (
            *(cost["shuffle_bytes"], shuffled.get(name, 0)),
            *(cost["output_bytes"], last.sizes[name]),
            *(cost["process_bytes"], memory.get(name, 0)),
        )
        print(f"| {name} | " + " | ".join(f"{size / 1e6:.2f}" for size in sizes) + " |")
    temporary = max(disk.values()) / 1e6
    print(f"temporary disk: stated {stated['temporary_bytes'] / 1e6:.2f} MB, real {temporary:.2f}")


def main() -> None:
    """Print the tables and their JSON line."""
    words = sys.argv[1:]
    if words[:1] == ["--measure"]:
        measure(words[1:])
    runs = 1
    if words[:1] == ["--runs"]:
        runs, words = int(words[1]), words[2:]
    words += ["--workers", "1"]
    with tempfile.TemporaryDirectory() as folder:
        stated = stated_costs(words, Path(folder) / "estimate")
        builds = [build(words, Path(folder) / str(index)) for index in range(runs)]
    rows = print_times(stated, builds)
    print_bytes(stated, builds[-1])
    counts = builds[-1].counts
    volumes = {name: round(value) for name, value in stated["volumes"].items()}
    taken = {
        "articles": counts["articles"]["articles_out"],
        "wanted": counts["wanted"]["references_out"],
        "documents": counts["scan"]["documents_out"],
        "used": counts["examples"]["documents_out"],
        "examples": counts["examples"]["examples_out"],
    }
    for name, value in taken.items():
        print(f"{name}: stated {volumes[name]:,}, real {value:,}")
    print(f"the estimate took {stated['own_seconds']:.1f} s of CPU time")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    told_json = {"benchmark": "estimate", "stated": stated["total"], "rows": rows, "real": taken}
    print(json.dumps({**told_json, "volumes": volumes, "machine": machine}))


if __name__ == "__main__":
    main()
