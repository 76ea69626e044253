"""Run a stage: as a Beam pipeline over its parts, resumed, with progress and one-line errors."""

import functools
import hashlib
import os
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.metrics.metric import Metrics

from wikisum.pipeline.engine import files, progress
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.runner import run_pipeline
from wikisum.pipeline.engine.stage import StageRun
from wikisum.pipeline.engine.workspace import PartResult, Parts, StageResult, merge_parts
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.runs.progress import clock


class RunPart(beam.DoFn):
    """index -> the same index, once the result of its task is recorded and counted.

    The tasks are a list in the file `tasks`, since runners refuse long job descriptions. A part
    that is recorded already, as after a retry of the bundle it was in, is not done again.
    """

    def __init__(
        self, stage: str, do: Callable[[int, Any], PartResult], parts: Parts, tasks: str
    ) -> None:
        self._stage = stage
        self._do = do
        self._parts = parts
        self._tasks = tasks

    def process(self, index: int) -> Iterator[int]:
        if not self._parts.is_recorded(index):
            result = self._do(index, _load_tasks(self._tasks)[index])
            self._parts.record(index, result)
            count(self._stage, result.counts)
        yield index


def count(stage: str, counts: Mapping[str, int]) -> None:
    """Add the counts to Beam's counters of the stage."""
    for name, number in counts.items():
        Metrics.counter(stage, name).inc(number)


def run_stage(
    job: Job, run: StageRun, construct: Callable[[beam.Pipeline, list[int], Parts], None]
) -> StageResult:
    """The result of a run: the recorded one if it has finished before, else that of running it.

    `construct` adds to a pipeline the transforms that write and record the pending parts.
    Raises JobFailed if the pipeline fails or a part is missing after it.
    """
    key, name, workspace = run.fingerprint, run.stage.name, job.workspace
    start = time.monotonic()
    parts = workspace.parts(name, key)
    with files.listed(workspace.out):
        if done := workspace.finished(name, key):
            job.to.write(f"{name:<9} already done\n")
            return done
        pending = workspace.begin(
            name, key, run.stage.prefixes, run.part_count, is_beside=run.stage.is_beside
        )
    if pending:
        work = run.total_work * len(pending) / run.part_count
        with (
            progress.drawn(job.progress_folder, name, run.stage.unit, work, job.to)
            if job.progress_folder
            else progress.counted(parts.recorded_count, name, len(pending), job.to)
        ):
            run_pipeline(job, lambda p: construct(p, pending, parts), len(pending), name, key)
    with files.listed(workspace.out):
        results = parts.load(run.part_count)
    for index in range(run.part_count):
        if index not in results:
            raise JobFailed(f"{name}: part {index} of {run.part_count} was not written")
    whole = merge_parts(results.values())
    seconds = time.monotonic() - start
    extra = {**run.recorded, **whole.extra}
    result = StageResult(name, key, whole.files, whole.counts, extra, seconds, whole.costs)
    workspace.finish(result)
    job.to.write(f"{name:<9} {clock(seconds)}  {_summary(result)}\n")
    return result


def _summary(result: StageResult) -> str:
    """The counts that the closing line of a stage names."""
    shown = [(n, c) for n, c in result.counts.items() if n.endswith(("_in", "_out"))]
    shown += [(n, c) for n, c in result.costs.items() if n.endswith(("requests", "_again"))]
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in shown)


@functools.lru_cache(maxsize=1)
def _load_tasks(path: str) -> dict[int, Any]:
    """Return the tasks by their index. Each process reads them once."""
    with files.open_input(path) as file:
        tasks: dict[int, Any] = pickle.load(file)
    return tasks


def run_parts(
    job: Job,
    run: StageRun,
    tasks: list[Any],
    do: Callable[[int, Any], PartResult],
    max_tasks: int | None = None,
) -> StageResult:
    """The result of a run in which each task writes its own part, with no shuffle.

    At most `max_tasks` of them run at a time, on whatever machines.
    """

    def construct(pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        data = pickle.dumps({i: tasks[i] for i in pending})
        # a name of its own, since a worker may still hold the tasks of an earlier run
        path = files.join(parts.folder, f"tasks-{hashlib.sha256(data).hexdigest()[:16]}.pickle")
        for old in files.list_folder(parts.folder):
            if os.path.basename(old).startswith("tasks-"):
                files.delete(old)
        files.write_bytes(path, data)
        _ = (
            pipeline
            | beam.Create(lanes(pending, max_tasks), reshuffle=False)
            | beam.Reshuffle()
            # no engine takes one element apart, so a lane has one task at a time
            | beam.FlatMap(list)
            | run.stage.name >> beam.ParDo(RunPart(run.stage.name, do, parts, path))
        )

    return run_stage(job, run, construct)


def lanes(indexes: list[int], count: int | None) -> list[list[int]]:
    """Return the indexes in at most `count` lists, or each in its own."""
    count = min(count or len(indexes), len(indexes))
    return [indexes[lane::count] for lane in range(count)]
