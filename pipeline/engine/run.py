"""Run a stage: as a Beam pipeline over its parts, resumed, with progress and one-line errors."""

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
    job: Job, run: StageRun, construct: Callable[[beam.Pipeline, list[int], Parts], None]
) -> StageResult:
    """The result of a run: the recorded one if it has finished before, else that of running it.

    `construct` adds to a pipeline the transforms that write and record the pending parts.
    Raises JobFailed if the pipeline fails or a part is missing after it.
    """
    key, name, workspace = run.fingerprint, run.stage.name, job.workspace
    if done := workspace.finished(name, key):
        job.to.write(f"{name:<9} already done\n")
        return done
    start = time.monotonic()
    parts = workspace.parts(name, key)
    pending = workspace.begin(
        name, key, run.stage.prefixes, run.part_count, is_beside=run.stage.is_beside
    )
    if pending:
        work = run.total_work * len(pending) / run.part_count
        with progress.drawn(job.progress_folder, name, run.stage.unit, work, job.to):
            run_pipeline(job, lambda p: construct(p, pending, parts), len(pending))
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


def _load_tasks(path: str) -> list[tuple[int, Any]]:
    with files.open_input(path) as file:
        tasks: list[tuple[int, Any]] = pickle.load(file)
    return tasks


def run_parts(
    job: Job, run: StageRun, tasks: list[Any], do: Callable[[int, Any], PartResult]
) -> StageResult:
    """The result of a run in which each task writes its own part, with no shuffle."""

    def construct(pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        path = files.join(parts.folder, "tasks.pickle")
        files.write_bytes(path, pickle.dumps([(i, tasks[i]) for i in pending]))
        _ = (
            pipeline
            | beam.Create([path])  # a path, since runners refuse long lists in a job's description
            | beam.FlatMap(_load_tasks)
            | beam.Reshuffle()
            | run.stage.name >> beam.ParDo(RunPart(run.stage.name, do, parts))
        )

    return run_stage(job, run, construct)
