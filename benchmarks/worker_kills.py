"""Is a build the same if one of its processes is killed in each of its stages?

    python -m benchmarks.worker_kills --out out/kills [--engines NAME ...] [--kills NAME ...] \
        [--stages NAME ...] -- BUILD FLAGS

Builds the bundled sample (or what the flags after `--` name) with the embedded runner. Then, on
each engine and for each kind of kill (`benchmarks/faults.py`), builds it again while one process is
killed in each stage, or in those of `--stages`. It is killed at a certain point of the stage, so
that no stage is too short to be hit. A build that a kill ends is run again by the same command on
the same engine. Prints how each run ended, and a table: the stages with a kill, how often the
command was run again, how many recorded parts were done again, and how many files have the same
bytes.

Beam's portable job service waits forever for a worker that is gone, so each kill of one there costs
the time of `--stall-minutes`. On other engines a stage may take ten times as long without a part.
"""

import argparse
import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.clusters import (
    ENGINES,
    ENVIRONMENT,
    GOLDEN,
    ROOT,
    Engine,
    build,
    build_words,
    found_engines,
    hashes,
    records,
)
from benchmarks.faults import KILLS, Fault

FLAGS = (
    "--articles", str(GOLDEN / "sample.xml.bz2"),
    "--warcs", str(GOLDEN / "sample-pages-00000.warc.gz"),
    str(GOLDEN / "sample-wet-00000.warc.wet.gz"),
    "--vocab-size", "300", "--entities", "none", "--shards", "2",
)  # fmt: skip
_MAX_RUNS = 40


class Outcome(NamedTuple):
    """A build with kills: the stages they were in, and what they cost."""

    stages: list[str]
    run_again: int
    parts_redone: int


class Records:
    """Watches when records of parts change: one that is written anew was done again."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._seen: dict[str, int] = {}
        self.redone = 0

    def look(self) -> None:
        """Compare the records with those seen before."""
        for path, time_ns in records(self._out).items():
            self.redone += self._seen.setdefault(path, time_ns) != time_ns
            self._seen[path] = time_ns


def build_with_kills(
    out: Path,
    flags: Sequence[str],
    name: str,
    kill: str,
    stages: Sequence[str],
    stall_minutes: float,
) -> Outcome:
    """Build on an engine with one kill in each of the stages. Raises RuntimeError."""
    struck = out.parent / "struck"
    struck.mkdir(parents=True)
    fault = Fault(kill, list(stages), str(struck))
    watched = Records(out)
    with _faults_importable(), ENGINES[name](out.parent / "engine") as started:
        engine = started._replace(stall_minutes=stall_minutes)
        words = build_words(out, flags, engine)
        for number in range(_MAX_RUNS):
            code, text = _run(fault, words, engine, watched)
            print(f"{name}, {kill}: run {number + 1} ended with {code}: {text}", flush=True)
            if code == 0:
                hit = [path.name for path in struck.iterdir()]
                return Outcome(hit, number, watched.redone)
    raise RuntimeError(f"{name}: not done after {_MAX_RUNS} runs: {text}")


@contextlib.contextmanager
def _faults_importable() -> Iterator[None]:
    """Let the processes that are started in the block import `benchmarks.faults`."""
    before = ENVIRONMENT.get("PYTHONPATH", "")
    ENVIRONMENT["PYTHONPATH"] = f"{ROOT}:{before}"
    try:
        yield
    finally:
        ENVIRONMENT["PYTHONPATH"] = before


def _run(fault: Fault, words: Sequence[str], engine: Engine, watched: Records) -> tuple[int, str]:
    """Run a build to its end; return its exit code and the last line that it wrote."""
    call = [sys.executable, "-c", "from benchmarks.faults import main; main()"]
    call += [json.dumps(fault._asdict()), *words]
    process = subprocess.Popen(
        call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    while process.poll() is None:
        time.sleep(0.05)
        watched.look()
        lost = [worker for worker in engine.workers if worker.poll() is not None]
        for worker in lost:
            engine.workers.remove(worker)
            engine.replace_worker()
    lines = process.communicate()[1].strip().splitlines()
    watched.look()
    return process.returncode, lines[-1] if lines else ""


def stage_names(out: Path) -> list[str]:
    """Return the stages of a finished build in their order."""
    paths = sorted(out.glob(".work/*.json"), key=lambda path: path.stat().st_mtime)
    read = [json.loads(path.read_text()) for path in paths]
    return [record["stage"] for record in read if "stage" in record]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=None)
    parser.add_argument("--kills", nargs="+", choices=KILLS, default=list(KILLS))
    parser.add_argument("--stages", nargs="+", default=None, metavar="NAME")
    parser.add_argument("--stall-minutes", type=float, default=1.0, metavar="X")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:cut])
    flags, out = words[cut + 1 :] or FLAGS, args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    with ENGINES["embedded-1"](out / "embedded") as engine:
        build(out / "embedded" / "build", flags, engine)
    expected = hashes(out / "embedded" / "build")
    stages = args.stages or stage_names(out / "embedded" / "build")
    is_same = True
    table = ["| engine | killed | stages | run again | parts redone | files with the same bytes |"]
    table.append("| --- | --- | --- | --- | --- | --- |")
    for name in args.engines or [n for n in found_engines() if not n.startswith("embedded")]:
        for kill in args.kills:
            made = out / name / kill / "build"
            minutes = args.stall_minutes * (1 if name == "portable" else 10)
            outcome = build_with_kills(made, flags, name, kill, stages, minutes)
            same = hashes(made).items() & expected.items()
            missed = sorted(set(stages) - set(outcome.stages))
            table.append(
                f"| {name} | {KILLS[kill]} | {len(outcome.stages)} of {len(stages)} | "
                f"{outcome.run_again} | {outcome.parts_redone} | {len(same)} of {len(expected)} |"
            )
            print(f"{table[-1]} no kill in: {', '.join(missed) or 'none'}", flush=True)
            is_same &= len(same) == len(expected) and not outcome.parts_redone and not missed
    print("\n".join(table))
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
