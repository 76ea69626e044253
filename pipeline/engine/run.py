"""Run a stage: as a Beam pipeline over its parts, resumed, with progress and one-line errors."""

import argparse
import contextlib
import os
import pickle
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

import apache_beam as beam
from apache_beam.metrics.metric import Metrics
from apache_beam.options.pipeline_options import PipelineOptions

from wikisum.pipeline.engine import files, progress
from wikisum.pipeline.engine.workspace import (
    PartResult,
    Parts,
    StageResult,
    Workspace,
    fingerprint,
    merge_parts,
)
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.runs.progress import clock

LOG = "beam.log"


@dataclass(frozen=True)
class Job:
    """How and where stages run: the output folder, worker processes, Beam's own flags.

    `to` is for the person watching; it must not share standard error's file descriptor, which
    goes to a log while a pipeline runs.
    """

    workspace: Workspace
    to: TextIO
    workers: int = 1
    beam_flags: tuple[str, ...] = ()

    @property
    def progress_folder(self) -> str | None:
        """Where workers tell their progress: nowhere if they may run on other machines."""
        local = not files.is_remote(self.workspace.out) and not self.beam_flags
        return self.workspace.work("progress") if local else None


@dataclass(frozen=True)
class Stage:
    """One step of the flow.

    `outputs` are the prefixes, under the output folder, of its files; `key` is what its
    fingerprint stands for; `facts` are kept with its result: settings, inputs.
    """

    name: str
    unit: str
    outputs: tuple[str, ...]
    key: Mapping[str, Any]
    part_count: int
    total_work: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """What it is done under."""
        return fingerprint({"stage": self.name, **self.key})


class RunPart(beam.DoFn):
    """(index, task) -> its result, recorded as done and counted."""

    def __init__(self, stage: str, do: Callable[[int, Any], PartResult], parts: Parts) -> None:
        self._stage = stage
        self._do = do
        self._parts = parts

    def process(self, element: tuple[int, Any]) -> Iterator[int]:
        index, task = element
        result = self._do(index, task)
        self._parts.record(index, result)
        count(self._stage, result.counts)
        yield index


def count(stage: str, counts: Mapping[str, int]) -> None:
    """Add the counts to Beam's counters of the stage."""
    for name, number in counts.items():
        Metrics.counter(stage, name).inc(number)


def run_stage(
    job: Job, stage: Stage, construct: Callable[[beam.Pipeline, list[int], Parts], None]
) -> StageResult:
    """The stage's result, out of the record if it is done for this key, else after running it.

    `construct` adds to a pipeline the transforms that write and record the parts still to do.
    """
    key = stage.fingerprint
    workspace = job.workspace
    if done := workspace.finished(stage.name, key):
        job.to.write(f"{stage.name:<9} done before\n")
        return done
    start = time.monotonic()
    parts = workspace.parts(stage.name, key)
    pending = workspace.begin(stage.name, key, stage.outputs, stage.part_count)
    if pending:
        work = stage.total_work * len(pending) / stage.part_count
        with progress.drawn(job.progress_folder, stage.name, stage.unit, work, job.to):
            run_pipeline(job, lambda p: construct(p, pending, parts), len(pending))
    results = parts.load(stage.part_count)
    for index in range(stage.part_count):
        if index not in results:
            raise JobFailed(f"{stage.name}: part {index} of {stage.part_count} was not written")
    whole = merge_parts(results.values())
    seconds = time.monotonic() - start
    facts = {**stage.facts, **whole.facts}
    result = StageResult(stage.name, key, whole.files, whole.counts, facts, seconds, whole.effort)
    workspace.finish(result)
    told = [*_shown(whole.counts), *_shown(whole.effort, ("requests", "_again"))]
    shown = ", ".join(f"{n:,} {name}" for name, n in told)
    job.to.write(f"{stage.name:<9} {clock(seconds)}  {shown}\n")
    return result


def _shown(
    counts: Mapping[str, int], endings: tuple[str, ...] = ("_in", "_out")
) -> list[tuple[str, int]]:
    """The counts that the closing line of a stage names."""
    return [(n.replace("_", " "), c) for n, c in counts.items() if n.endswith(endings)]


def _load_tasks(path: str) -> list[tuple[int, Any]]:
    with files.open_input(path) as file:
        tasks: list[tuple[int, Any]] = pickle.load(file)
    return tasks


def run_parts(
    job: Job, stage: Stage, tasks: list[Any], do: Callable[[int, Any], PartResult]
) -> StageResult:
    """Run a stage in which each task writes its own part, with no shuffle."""

    def construct(pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        path = files.join(parts.folder, "tasks.pickle")
        files.write_bytes(path, pickle.dumps([(i, tasks[i]) for i in pending]))
        _ = (
            pipeline
            | beam.Create([path])  # a path, since runners refuse long lists in a job's description
            | beam.FlatMap(_load_tasks)
            | beam.Reshuffle()
            | stage.name >> beam.ParDo(RunPart(stage.name, do, parts))
        )

    return run_stage(job, stage, construct)


def check_beam_flags(flags: list[str]) -> None:
    """Raise ValueError for a flag that Beam does not have; Beam would pass over it."""
    if not flags:
        return
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    children: list[Any] = _all_subclasses(PipelineOptions)
    for options in children:
        with contextlib.suppress(argparse.ArgumentError):
            options._add_argparse_args(parser)
    try:
        _, unknown = parser.parse_known_args(flags)
    except SystemExit as error:
        raise ValueError(f"wrong Beam flags after --: {' '.join(flags)}") from error
    if unknown:
        raise ValueError(f"Beam has no flag {unknown[0]}")


def _all_subclasses(root: type) -> list[Any]:
    found: list[Any] = []
    child: Any
    for child in root.__subclasses__():
        found += [child, *_all_subclasses(child)]
    return found


def run_pipeline(job: Job, construct: Callable[[beam.Pipeline], None], most_workers: int) -> None:
    """Build and run a pipeline, its chatter to a log. Raises JobFailed with the cause in a line."""
    if job.beam_flags:
        options = PipelineOptions(list(job.beam_flags))
        runner = options.get_all_options().get("runner")
    else:
        workers = max(1, min(job.workers, most_workers))
        mode = "multi_processing" if workers > 1 else "in_memory"
        options = PipelineOptions(
            [f"--direct_num_workers={workers}", f"--direct_running_mode={mode}"]
        )
        runner = "FnApiRunner"
    with _chatter_to_log(job):
        try:
            pipeline = beam.Pipeline(runner=runner, options=options)
            os.rmdir(pipeline.local_tempdir)  # empty, for Java's transforms; a kill would leave it
            construct(pipeline)
            pipeline.run().wait_until_finish()
        except Exception as error:
            raise JobFailed(cause(error)) from error


def cause(error: BaseException) -> str:
    """The cause of a failed pipeline in one line, without Beam's wrapping."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    last = lines[-1].strip() if lines else type(error).__name__
    last = re.sub(r" \[while running '.*", "", last)
    return re.sub(r"^(RuntimeError: )+", "", last)


@contextlib.contextmanager
def _chatter_to_log(job: Job) -> Iterator[None]:
    """Send what workers and libraries write to standard error to the log, but for our own lines."""
    if job.beam_flags or files.is_remote(job.workspace.out):
        yield
        return
    os.makedirs(job.workspace.work(), exist_ok=True)
    saved = os.dup(2)
    out_of_pipe, into_pipe = os.pipe()
    log = threading.Thread(target=_drain, args=(out_of_pipe, job.workspace.work(LOG)), daemon=True)
    log.start()
    os.dup2(into_pipe, 2)
    os.close(into_pipe)
    try:
        yield
    finally:
        os.dup2(saved, 2)  # closes the pipe, so that the thread ends
        os.close(saved)
        log.join(timeout=10)


def _drain(out_of_pipe: int, path: str) -> None:
    """Write what comes out of the pipe to a file while there is room for it.

    A worker whose own standard error fails, on a full disk say, would hang instead of failing.
    """
    log = None
    with contextlib.suppress(OSError):
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    while data := os.read(out_of_pipe, 1 << 16):
        if log is not None:
            with contextlib.suppress(OSError):
                os.write(log, data)
    os.close(out_of_pipe)
    if log is not None:
        os.close(log)
