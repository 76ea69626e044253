"""Run a Beam pipeline for a job: its log, and its errors in one line."""

import contextlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.engines import job_flags
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.errors import JobFailed

LOG = "beam.log"
LOG_OF_REMOTE = "wikisum-beam-{}.log"  # in the temporary folder, for a remote output


def run_pipeline(
    job: Job,
    construct: Callable[[beam.Pipeline], None],
    max_workers: int,
    stage: str = "",
    fingerprint: str = "",
) -> None:
    """Build and run a pipeline with its output in a log. Raises JobFailed with the cause."""
    if job.beam_flags:
        options = PipelineOptions(job_flags(job.beam_flags, stage, fingerprint))
        runner = options.get_all_options().get("runner")
    else:
        workers = max(1, min(job.workers, max_workers))
        mode = "multi_processing" if workers > 1 else "in_memory"
        options = PipelineOptions(
            [f"--direct_num_workers={workers}", f"--direct_running_mode={mode}"]
        )
        runner = "FnApiRunner"
    with _stderr_to_log(job):
        try:
            pipeline = beam.Pipeline(runner=runner, options=options)
            os.rmdir(pipeline.local_tempdir)  # empty, for Java's transforms; a kill would leave it
            construct(pipeline)
            result = pipeline.run()
            if hasattr(result, "job_id"):
                job.note(f"job {result.job_id()}")
            result.wait_until_finish()
        except Exception as error:
            raise JobFailed(cause(error)) from error


def cause(error: BaseException) -> str:
    """The cause of a failed pipeline in one line, without Beam's wrapping."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    last = lines[-1].strip() if lines else type(error).__name__
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
