"""Is a build the same if a worker is killed in each of its stages?

    python -m benchmarks.worker_kills --out out/kills [--engines NAME ...] [--stages NAME ...] \
        -- BUILD FLAGS

Builds the bundled sample (or what the flags after `--` name) with the embedded runner, and then on
each engine while a worker is killed in each stage, or in those of `--stages`: when the stage has
recorded a part, or 1.5 seconds after the stage before it. A build that the kill ends is run again
on a new engine. Prints how each run ended, and per engine the stages with a kill, how often the
build was run again, how many parts that were recorded were done again, and how many files have the
same bytes.

Beam's portable job service does not notice a lost worker, so each kill there costs the minute of
`--stall-minutes 1`.
"""

import argparse
import json
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.clusters import (
    ENGINES,
    GOLDEN,
    Engine,
    build,
    found_engines,
    hashes,
    kill_worker,
    records,
    start_build,
)

FLAGS = (
    "--articles", str(GOLDEN / "sample.xml.bz2"),
    "--warcs", str(GOLDEN / "sample-*.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"),
    "--vocab-size", "1000", "--graphs", "none", "--shards", "2",
)  # fmt: skip
_WAIT_SECONDS = 1.5
_MAX_RUNS = 40


class Kills(NamedTuple):
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
    out: Path, flags: Sequence[str], name: str, stages: Sequence[str], kill_in: Sequence[str]
) -> Kills:
    """Build on an engine; kill a worker once in each stage of `kill_in`. Raises RuntimeError."""
    killed: list[str] = []
    watched = Records(out)
    for run in range(_MAX_RUNS):
        with ENGINES[name](out.parent / f"engine-{run}") as engine:
            process = start_build(out, flags, engine._replace(stall_minutes=1))
            stage, since = "", time.monotonic()
            while process.poll() is None:
                time.sleep(0.05)
                watched.look()
                before, stage = stage, _running(out, stages)
                since = since if stage == before else time.monotonic()
                is_due = time.monotonic() - since > _WAIT_SECONDS or _has_record(out, stage)
                if stage in kill_in and stage not in killed and is_due and has_worker(engine):
                    kill_worker(engine)
                    killed.append(stage)
                    engine.replace_worker()
            said = process.communicate()[1]
        watched.look()
        print(f"{name}: run {run + 1}: {said.strip().splitlines()[-1]}", flush=True)
        if process.returncode == 0:
            return Kills(killed, run, watched.redone)
    raise RuntimeError(f"{name}: not done after {_MAX_RUNS} runs: {said[-2_000:]}")


def _running(out: Path, stages: Sequence[str]) -> str:
    """Return the first stage that has not finished, or an empty name."""
    return next((s for s in stages if not (out / ".work" / f"{s}.json").exists()), "")


def _has_record(out: Path, stage: str) -> bool:
    return any(out.glob(f".work/{stage}-{'[0-9a-f]' * 16}/part-*.json"))


def has_worker(engine: Engine) -> bool:
    """Return whether a worker runs that `kill_worker` would kill, and not the pool of workers."""
    alive = [psutil.Process(w.pid) for w in engine.workers if w.poll() is None]
    if engine.is_pool:
        alive = [child for process in alive for child in process.children()]
    return any(process.status() != psutil.STATUS_ZOMBIE for process in alive)


def stage_names(out: Path) -> list[str]:
    """Return the stages of a finished build in their order."""
    paths = sorted(out.glob(".work/*.json"), key=lambda path: path.stat().st_mtime)
    read = [json.loads(path.read_text()) for path in paths]
    return [record["stage"] for record in read if "stage" in record]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=None)
    parser.add_argument("--stages", nargs="+", default=None, metavar="NAME")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:cut])
    flags, out = words[cut + 1 :] or FLAGS, args.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    with ENGINES["embedded-1"](out / "embedded") as engine:
        build(out / "embedded" / "build", flags, engine)
    expected = hashes(out / "embedded" / "build")
    stages = stage_names(out / "embedded" / "build")
    is_same = True
    for name in args.engines or found_engines():
        if name.startswith("embedded"):
            continue
        kills = build_with_kills(out / name / "build", flags, name, stages, args.stages or stages)
        same = hashes(out / name / "build").items() & expected.items()
        missed = sorted(set(args.stages or stages) - set(kills.stages))
        print(
            f"{name}: killed in {len(kills.stages)} of {len(args.stages or stages)} stages "
            f"(not in {', '.join(missed) or 'none'}), run again {kills.run_again} times, "
            f"{kills.parts_redone} parts redone, {len(same)} of {len(expected)} files same",
            flush=True,
        )
        is_same &= len(same) == len(expected) and kills.parts_redone == 0
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
