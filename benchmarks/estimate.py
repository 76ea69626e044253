"""What an estimate states, and what the build then takes.

    python -m benchmarks.estimate --articles DUMP --warcs FILE ... [other flags of wikisum build]

Builds with one worker into a temporary folder, in a process of its own. CPU time is that of the
process and its children, times the speed of the core, which is measured after each stage: other
work on the same core makes it slower by up to two times. Shuffled bytes are those of the files
through which joins go; disk is the largest size of `.work/` so far; memory is the peak of the
process in the stage; output is what the manifest counts.
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
from typing import Any

import psutil

from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.engine import run
from wikisum.pipeline.estimate.speed import core_speed
from wikisum.pipeline.joins.spill import SpillWriter

STAGES = {
    "templates": "articles", "template-store": "articles", "recurring": "examples",
    "filter": "scan",
}  # fmt: skip
FOLDERS = {
    "articles": "articles", "wanted": "wanted", "documents": "scan", "examples": "tokenize",
    "vocab": "vocab",
}  # fmt: skip


def cpu_seconds() -> float:
    """CPU time so far of this process and of all that it or its workers have started."""
    this, total = psutil.Process(), 0.0
    for process in (this, *this.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])  # with those of its children that have ended
    return total


def folder_bytes(folder: Path) -> int:
    """The sizes of all files below a folder, some of which may vanish meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


class Watch:
    """Measures the stages as they end: what was taken since the stage before is the next one's."""

    def __init__(self, work: Path) -> None:
        self.seconds = Counter[str]()
        self.shuffled = Counter[str]()
        self.memory: dict[str, int] = {}
        self.disk: dict[str, int] = {}
        self._work = work
        self._spilled = self._disk = 0
        self._speed = core_speed()
        self._start = cpu_seconds()
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while True:
            self._disk = max(self._disk, folder_bytes(self._work))
            time.sleep(0.5)

    def end(self, stage: str) -> None:
        """Count what was taken since the last call as the stage's."""
        now, name = cpu_seconds(), STAGES.get(stage, stage)
        before, self._speed = self._speed, core_speed()
        self.seconds[name] += (now - self._start) * (before + self._speed) / 2
        self.shuffled[name] += self._spilled
        peak = next(x for x in Path("/proc/self/status").read_text().split("\n") if "VmHWM" in x)
        self.memory[name] = max(self.memory.get(name, 0), int(peak.split()[1]) * 1024)
        self.disk[name] = max(self._disk, folder_bytes(self._work))
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        self._start, self._spilled = cpu_seconds(), 0

    def spilled(self, close: Callable[[SpillWriter], None]) -> Callable[[SpillWriter], None]:
        """Return `close` that counts the bytes of the file."""

        def counting(writer: SpillWriter) -> None:
            close(writer)
            self._spilled += writer._file.tell()

        return counting


def measure(words: list[str]) -> None:
    """Build, and print what each stage took as JSON."""
    watch = Watch(Path(words[words.index("--out") + 1]) / ".work")
    run_pipeline = run.run_pipeline

    def watched(
        job: Any, construct: Any, parts: int, stage: str, *others: Any, **named: Any
    ) -> None:
        run_pipeline(job, construct, parts, stage, *others, **named)
        watch.end(stage)

    run.run_pipeline = watched
    SpillWriter.close = watch.spilled(SpillWriter.close)  # type: ignore[method-assign]
    code = wikisum(words)
    watch.end("report")
    names = ("seconds", "shuffled", "memory", "disk")
    print(json.dumps({name: getattr(watch, name) for name in names}))
    sys.exit(code)


def output_bytes(out: Path) -> Counter[str]:
    """Bytes of the data by the stage that writes them."""
    sizes = Counter[str]()
    for path, result in json.loads((out / "manifest.json").read_text())["files"].items():
        folder, name = path.split("/")
        sizes[FOLDERS.get(folder) or name.split("-")[1]] += result["bytes"]
    return sizes


def main() -> None:
    """Print the table and its JSON line."""
    words = sys.argv[1:]
    if words[:1] == ["--measure"]:
        measure(words[1:])
    with tempfile.TemporaryDirectory() as folder:
        flags = ["build", *words, "--workers", "1", "--out", f"{folder}/out"]
        result = io.StringIO()
        start = cpu_seconds()
        with contextlib.redirect_stdout(result):
            code = wikisum([*flags, "--estimate", "--json", "--assume", "speed=1"])
        own_seconds = cpu_seconds() - start
        if code:
            raise SystemExit(code)
        command = [sys.executable, "-m", "benchmarks.estimate", "--measure", *flags]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        real = json.loads(done.stdout.splitlines()[-1])
        sizes = output_bytes(Path(folder) / "out")
        counts = json.loads((Path(folder) / "out" / "manifest.json").read_text())["counts"]
    stated = json.loads(result.getvalue())
    rows = [
        (
            cost["stage"],
            *(cost["cpu_seconds"], real["seconds"].get(cost["stage"], 0.0)),
            *(cost["shuffle_bytes"] / 1e6, real["shuffled"].get(cost["stage"], 0) / 1e6),
            *(cost["output_bytes"] / 1e6, sizes[cost["stage"]] / 1e6),
            *(cost["process_bytes"] / 1e6, real["memory"].get(cost["stage"], 0) / 1e6),
        )
        for cost in stated["stages"]
    ]
    sums = [sum(column) for column in list(zip(*rows, strict=True))[1:7]]
    largest = [max(column) for column in list(zip(*rows, strict=True))[7:]]
    rows.append(("total", *sums, *largest))
    print("| stage | CPU s | real | shuffle MB | real | output MB | real | memory MB | real |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, *figures in rows:
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    temporary = max(real["disk"].values()) / 1e6
    print(f"temporary disk: stated {stated['temporary_bytes'] / 1e6:.2f} MB, real {temporary:.2f}")
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
    print(f"the estimate took {own_seconds:.1f} s of CPU time")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    told_json = {"benchmark": "estimate", "stated": stated["total"], "rows": rows, "real": taken}
    print(json.dumps({**told_json, "volumes": volumes, "machine": machine}))


if __name__ == "__main__":
    main()
