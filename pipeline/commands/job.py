"""The job of a command: its output folder, held by this process."""

import argparse
import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from functools import partial
from typing import TextIO

from wikisum.pipeline import build as flow
from wikisum.pipeline.commands.command import INTERRUPTED
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.engines import check_reachable, checked_flags, end_local_engine
from wikisum.pipeline.engine.job import Job, default_memory_bytes
from wikisum.pipeline.engine.runner import end_engine
from wikisum.pipeline.engine.workspace import MANIFEST, StageResult, Workspace
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.machine import GIB


def check_out(out: str) -> None:
    """Raise ValueError if `out` cannot be an output folder."""
    if not out.strip():
        raise ValueError("--out is empty: name a folder")
    files.check_path(out)
    if not files.is_remote(out) and os.path.exists(out) and not os.path.isdir(out):
        raise ValueError(f"--out {out} is not a directory")


def done_stage(job: Job, stage: str) -> StageResult:
    """Return the record of a stage. Raises JobFailed naming what to run if it is not finished."""
    result = job.workspace.finished(stage)
    if result is None:
        raise JobFailed(_missing(job.workspace.out, stage))
    return result


def _missing(out: str, stage: str) -> str:
    command = {"wanted": "scan", "graphs": "examples"}.get(stage, stage)
    return f"{out} has no finished {stage}: run `wikisum {command}` first"


def refresh_manifest(job: Job) -> None:
    """Add what a command wrote beside a finished dataset to its manifest, report and card."""
    workspace = job.workspace
    if files.exists(workspace.path(MANIFEST)) and workspace.finished("tokenize"):
        flow.finish(job, flow.finished_stages(job))


@contextlib.contextmanager
def open_job(
    args: argparse.Namespace, beam_flags: list[str], after: str | None = None
) -> Iterator[Job]:
    """The locked output folder and how to run in it, as a context.

    With `after`, the folder must exist and that stage be finished in it: no folder is created.
    Raises ValueError for a wrong call and JobFailed for a folder without that stage.
    """
    flags = checked_flags(beam_flags)
    check_out(args.out)
    check_reachable(flags, [args.out])
    # workers of other machines may run in another directory
    workspace = Workspace(files.whole_path(args.out) if flags else args.out)
    if after is not None and workspace.finished(after) is None:
        raise JobFailed(_missing(args.out, after))
    workers = args.workers or os.cpu_count() or 1
    memory_bytes = int(args.memory * GIB) if args.memory else default_memory_bytes(workers)
    with contextlib.ExitStack() as stack:
        # a descriptor of its own, since standard error is redirected while pipelines run
        to = stack.enter_context(os.fdopen(os.dup(2), "w", buffering=1))
        stack.enter_context(workspace.locked())
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, partial(_interrupt, to))
            stack.callback(signal.signal, signal.SIGINT, before)
        job = Job(workspace, to, workers, flags, args.stall_minutes, memory_bytes)
        stack.callback(end_engine, job)
        yield job


def _interrupt(to: TextIO, *_: object) -> None:
    """Leave at once: Beam would wait for workers that the same signal has ended.

    Files on disk are complete, and workers of this machine end when this process does.
    """
    to.write("\nwikisum: interrupted; run the same command to resume\n")
    with contextlib.suppress(Exception):
        end_local_engine()
    os._exit(INTERRUPTED)
