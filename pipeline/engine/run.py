"""Run a stage: as a Beam pipeline over its parts, resumed, with progress and one-line errors."""

import contextlib
import functools
import gc
import hashlib
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import apache_beam as beam
import pyarrow as pa
from apache_beam.metrics.metric import Metrics

from wikisum.crawl.urls import url_parts
from wikisum.pipeline.engine import files, progress
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.runner import run_pipeline
from wikisum.pipeline.engine.stage import StageRun
from wikisum.pipeline.engine.workspace import PartResult, Parts, StageResult, merge_parts
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.runs.progress import clock
from wikisum.ranker.training.allocation import return_freed_memory

_LONG_SECONDS = 10.0  # of a stage after which collecting garbage is worth its time
_MAX_HELD = 32  # parts in a record, whose name has their indexes
_GRAPH_BYTES = 256 << 10  # of tasks that are sent in the description of a job

T = TypeVar("T")


class DoParts(beam.DoFn):
    """(index, task) -> index: do, count and record the parts of a stage.

    `do(index, task)` writes the files of a part. Parts that are recorded already, as after a retry
    of the bundle they were in, are not done again. On an object store the parts that a worker
    finishes within ten seconds share a record.
    """

    def __init__(self, stage: str, do: Callable[[int, Any], PartResult], parts: Parts) -> None:
        self._stage = stage
        self._do = do
        self._parts = parts

    def start_bundle(self) -> None:
        self._recorded: set[int] | None = None
        self._held: dict[int, PartResult] = {}
        self._held_since = time.monotonic()

    def process(self, element: tuple[int, Any]) -> Iterator[int]:
        index, task = element
        if self._recorded is None:  # asked here, since runners also start bundles without elements
            self._recorded = self._parts.recorded() if self._parts.may_repeat else set()
        if index not in self._recorded:
            try:
                self._held[index] = self._do(index, task)
            except BaseException:
                self._record()
                raise
            self._recorded.add(index)
            count(self._stage, self._held[index].counts)
            is_late = time.monotonic() - self._held_since >= self._parts.hold_seconds
            if is_late or len(self._held) == _MAX_HELD:
                self._record()
        yield index

    def finish_bundle(self) -> None:
        self._record()

    def _record(self) -> None:
        if self._held:
            self._parts.record(self._held)
        self._held = {}
        self._held_since = time.monotonic()


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
    with _folder_for_copies(job) as copies:
        parts = workspace.parts(name, key)
        parts = replace(parts, may_repeat=bool(job.beam_flags), copies=copies)
        _run_pending(job, run, construct, parts)
        results = parts.load(run.part_count)
    for index in range(run.part_count):
        if index not in results:
            raise JobFailed(f"{name}: part {index} of {run.part_count} was not written")
    whole = merge_parts(results.values())
    seconds = time.monotonic() - start
    extra = {**run.recorded, **whole.extra}
    result = StageResult(name, key, whole.files, whole.counts, extra, seconds, whole.costs)
    workspace.finish(result)
    _release_memory(seconds)
    job.to.write(f"{name:<9} {clock(seconds)}  {_summary(result)}\n")
    return result


@contextlib.contextmanager
def _folder_for_copies(job: Job) -> Iterator[str]:
    """Yield a local folder for copies of records.

    It is an empty string if the output is local or the workers are on other machines.
    """
    if job.beam_flags or not files.is_remote(job.workspace.out):
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="wikisum-records-") as folder:
        yield folder


def _run_pending(
    job: Job,
    run: StageRun,
    construct: Callable[[beam.Pipeline, list[int], Parts], None],
    parts: Parts,
) -> None:
    """Run the parts of a stage that are not recorded yet, if there are any."""
    key, name, workspace = run.fingerprint, run.stage.name, job.workspace
    pending = workspace.begin(
        name, key, run.stage.prefixes, run.part_count, is_beside=run.stage.is_beside
    )
    if pending:
        work = run.total_work * len(pending) / run.part_count
        with (
            files.unlisted(workspace.out),
            progress.drawn(job.progress_folder, name, run.stage.unit, work, job.to)
            if job.progress_folder
            else progress.counted(parts.recorded_count, name, run.part_count, len(pending), job.to),
        ):
            run_pipeline(
                job,
                lambda p: construct(p, pending, parts),
                len(pending),
                name,
                key,
                preload=run.preload,
            )


def _release_memory(seconds: float) -> None:
    """Return what a stage has freed to the system, so that the next one does not add to it.

    After a long stage, first clear the cache of parsed URLs and collect reference cycles: objects
    that lie between freed ones keep their memory from being returned.
    """
    if seconds > _LONG_SECONDS:
        url_parts.cache_clear()
        gc.collect()
    pa.default_memory_pool().release_unused()
    return_freed_memory()


def _summary(result: StageResult) -> str:
    """The counts that the closing line of a stage names."""
    shown = [(n, c) for n, c in result.counts.items() if n.endswith(("_in", "_out"))]
    shown += [(n, c) for n, c in result.costs.items() if n.endswith(("requests", "_again"))]
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in shown)


@dataclass(frozen=True)
class _Unpickled:
    """Calls `do` with the task that is pickled in an element, or in the file `path`."""

    do: Callable[[int, Any], PartResult]
    path: str

    def __call__(self, index: int, data: bytes | None) -> PartResult:
        task = _load_tasks(self.path)[index] if data is None else pickle.loads(data)
        return self.do(index, task)


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

    At most `max_tasks` of them run at a time, on whatever machines. The workers of this machine
    take one task after the other; the embedded runner alone would divide them at the start.
    A single worker needs no shuffle, which takes longer than a small task.
    """
    is_shared = not job.beam_flags and job.workers > 1
    has_one_worker = not job.beam_flags and job.workers == 1

    def construct(claims: str, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        elements, path = _elements({i: tasks[i] for i in pending}, parts.folder)
        if has_one_worker:
            given = pipeline | beam.Create(elements, reshuffle=False)
        else:
            split = lanes(elements, max_tasks)
            if is_shared:
                split = [elements] * min(len(split), job.workers)
            given = (
                pipeline
                | beam.Create(split, reshuffle=False)
                | beam.Reshuffle()
                # no engine takes one element apart, so a lane has one task at a time
                | beam.FlatMap(partial(_claimed, claims) if is_shared else list)
            )
        do_parts = DoParts(run.stage.name, _Unpickled(do, path), parts)
        _ = given | run.stage.name >> beam.ParDo(do_parts)

    if not is_shared:
        return run_stage(job, run, partial(construct, ""))
    with tempfile.TemporaryDirectory(prefix="wikisum-claims-") as claims:
        return run_stage(job, run, partial(construct, claims))


def _claimed(folder: str, lane: list[tuple[int, T]]) -> Iterator[tuple[int, T]]:
    """Yield the elements that no other worker has claimed, each when the one before is done."""
    for index, task in lane:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(os.path.join(folder, str(index)), os.O_CREAT | os.O_EXCL))
            yield index, task


def _elements(tasks: dict[int, Any], folder: str) -> tuple[list[tuple[int, bytes | None]], str]:
    """Return each index with its pickled task, and the file that has them if they are too large.

    Runners refuse long job descriptions: Dataflow those of over 10 MB.
    """
    elements = [(index, pickle.dumps(task)) for index, task in tasks.items()]
    if sum(len(data) for _, data in elements) <= _GRAPH_BYTES:
        return [*elements], ""
    data = pickle.dumps(tasks)
    # a name of its own, since a worker may still hold the tasks of an earlier run
    path = files.join(folder, f"tasks-{hashlib.sha256(data).hexdigest()[:16]}.pickle")
    files.write_bytes(path, data)
    return [(index, None) for index in tasks], path


def lanes(elements: list[T], count: int | None) -> list[list[T]]:
    """Return the elements in at most `count` lists, or each in its own."""
    count = min(count or len(elements), len(elements))
    return [elements[lane::count] for lane in range(count)]
