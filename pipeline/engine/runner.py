"""Run a Beam pipeline for a job: its log, and its errors in one line."""

import contextlib
import functools
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import Any, NamedTuple, TypeVar

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.runner import PipelineRunner

from wikisum.pipeline import workers as forked
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.engines import (
    WorkerCheck,
    end_local_engine,
    has_local_engine,
    is_dataflow,
    job_flags,
    with_cluster,
)
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.errors import JobFailed

LOG = "beam.log"
LOG_OF_REMOTE = "wikisum-beam-{}.log"  # in the temporary folder, for a remote output
POLL_SECONDS = 10.0  # on an object store each is a request
START_SECONDS = 300.0  # for the workers of an engine to start
START_SECONDS_ON_DATAFLOW = 1_800.0

OptionsT = TypeVar("OptionsT", bound=PipelineOptions)


class LocalOptions(PipelineOptions):
    """Options that are parsed once for each class of options.

    Beam asks for a view for each transform, and parses all flags again for each: a third of the
    time of a job with little to do.
    """

    def __init__(self, flags: list[str]) -> None:
        super().__init__(flags)
        object.__setattr__(self, "_views", {})  # other attributes are options

    def view_as(self, cls: type[OptionsT]) -> OptionsT:
        if cls not in self._views:
            self._views[cls] = super().view_as(cls)
        view: OptionsT = self._views[cls]
        return view


class Watch(NamedTuple):
    """A job fails with `message` if `progress` returns the same for so many seconds."""

    progress: Callable[[], Any]
    seconds: float
    message: str


def run_pipeline(
    job: Job,
    construct: Callable[[beam.Pipeline], None],
    max_workers: int,
    stage: str = "",
    fingerprint: str = "",
    preload: Callable[[], object] | None = None,
) -> None:
    """Build and run a pipeline with its output in a log. Raises JobFailed with the cause.

    If this machine runs several workers, `preload` is called in the process that they are forked
    from.
    The first pipeline of a command on another engine follows a small one that checks its workers.
    """
    if not job.beam_flags:
        workers = max(1, min(job.workers, max_workers))
        runner = FnApiRunner(forked.ForkedWorkers.default() if workers > 1 else None)
        if workers > 1:
            forked.start_server()  # before standard error goes to the log
        with _stderr_to_log(job), _one_line():
            if preload is not None and workers > 1:
                forked.preload(preload)
            _start(construct, [f"--direct_num_workers={workers}"], runner).wait_until_finish()
        return
    _check_workers(job)
    recorded = job.workspace.parts(stage, fingerprint).recorded_count
    minutes = job.stall_minutes
    message = (
        f"no part was finished for {minutes:g} minutes (--stall-minutes); a worker may be lost"
    )
    watch = Watch(recorded, 60.0 * minutes, f"{message}: run the same command to resume")
    _run_watched(job, construct, job_flags(job.beam_flags, stage, fingerprint, max_workers), watch)


@functools.lru_cache(maxsize=1)
def _check_workers(job: Job) -> None:
    """Run a job that only checks the workers, once per command. Raises JobFailed."""
    check = WorkerCheck(job.workspace)
    seconds = START_SECONDS_ON_DATAFLOW if is_dataflow(job.beam_flags) else START_SECONDS
    watch = Watch(
        lambda: None,
        seconds,
        f"no worker of the engine started within {seconds:.0f} seconds: see its log, and the "
        "addresses after --",
    )
    _run_watched(job, check.construct, job_flags(job.beam_flags, "check", check.id, 1), watch)
    for line in check.differences():
        job.note(line)


def _run_watched(
    job: Job, construct: Callable[[beam.Pipeline], None], flags: list[str], watch: Watch
) -> None:
    """Run a pipeline on another engine, in a thread, since an engine may never return."""
    results: list[Any] = []
    ended: Future[None] = Future()

    def work() -> None:
        try:
            results.append(_start(construct, with_cluster(flags, job.workers), None))
            if hasattr(results[0], "job_id"):
                job.note(f"job {results[0].job_id()}")
            results[0].wait_until_finish()
            if hasattr(results[0], "client"):  # Dask's
                results[0].client.close()
            ended.set_result(None)
        except BaseException as error:
            ended.set_exception(error)

    with _stderr_to_log(job), _one_line():
        threading.Thread(target=work, daemon=True).start()
        before, since = watch.progress(), time.monotonic()
        while not wait([ended], timeout=POLL_SECONDS).done:
            if (now := watch.progress()) != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > watch.seconds:
                _cancel(results)
                raise JobFailed(watch.message)
        ended.result()


def end_engine(job: Job) -> None:
    """End what Beam has started on this machine for the jobs of a command."""
    if has_local_engine():
        with _stderr_to_log(job):
            end_local_engine()


def _cancel(results: list[Any]) -> None:
    """Ask the engine to cancel the job; one that does not answer is not waited for."""
    if results:
        thread = threading.Thread(target=results[0].cancel, daemon=True)
        thread.start()
        thread.join(timeout=10)


def _start(
    construct: Callable[[beam.Pipeline], None], flags: list[str], runner: PipelineRunner | None
) -> Any:
    """Build a pipeline and start it; return Beam's result."""
    options = PipelineOptions(flags) if runner is None else LocalOptions(flags)
    runner_or_name = runner or options.get_all_options().get("runner")
    pipeline = beam.Pipeline(runner=runner_or_name, options=options)
    os.rmdir(pipeline.local_tempdir)  # empty, for Java's transforms; a kill would leave it
    construct(pipeline)
    return pipeline.run()


@contextlib.contextmanager
def _one_line() -> Iterator[None]:
    """Turn any error into JobFailed with its cause."""
    try:
        yield
    except JobFailed:
        raise
    except Exception as error:
        raise JobFailed(cause(error)) from error


def cause(error: BaseException) -> str:
    """The cause of a failed pipeline in one line, without Beam's wrapping.

    It is the last line; if that is only the address of a page, the paragraph that it ends.
    """
    lines = [line.strip() for line in str(error).strip().splitlines()]
    last = lines[-1] if lines else type(error).__name__
    if re.fullmatch(r"https?://\S+", last):
        blank = next((i for i in reversed(range(len(lines))) if not lines[i]), -1)
        last = " ".join(lines[blank + 1 :])
    last = re.sub(r" \[while running '.*", "", last)
    return re.sub(r"^(RuntimeError: )+", "", last)


@contextlib.contextmanager
def _stderr_to_log(job: Job) -> Iterator[None]:
    """Redirect standard error to the log; our own lines go to a descriptor of their own."""
    is_remote = files.is_remote(job.workspace.out)
    folder = tempfile.gettempdir() if is_remote else job.workspace.work()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, LOG_OF_REMOTE.format(os.getpid()) if is_remote else LOG)
    saved = os.dup(2)
    out_of_pipe, into_pipe = os.pipe()
    log = threading.Thread(target=_drain, args=(out_of_pipe, path), daemon=True)
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
    """Copy the pipe to a file, and go on reading when the disk is full.

    A worker that cannot write to its standard error would hang instead of failing.
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
