"""The job of a command: its output folder, held by this process, and its flags."""

import argparse
import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from wikisum.pipeline.commands.command import INTERRUPTED

if TYPE_CHECKING:
    from wikisum.pipeline.engine.job import Job
    from wikisum.pipeline.engine.workspace import StageResult


def add_job_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--out` and `--workers`."""
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    parser.add_argument("--workers", type=int, metavar="N",
                        help="worker processes (default: one a core)")  # fmt: skip


def done_stage(job: "Job", stage: str) -> "StageResult":
    """The record of a stage that must be done. Raises JobFailed naming what to run first."""
    from wikisum.pipeline.errors import JobFailed

    result = job.workspace.finished(stage)
    if result is None:
        command = {"wanted": "scan", "graphs": "examples"}.get(stage, stage)
        raise JobFailed(
            f"{job.workspace.out} has no finished {stage}: run `wikisum {command}` first"
        )
    return result


class open_job:
    """The output folder, locked, and how to run in it, as a context; wrong Beam flags are told."""

    def __init__(self, args: argparse.Namespace, beam_flags: list[str]) -> None:
        from wikisum.pipeline.engine import files
        from wikisum.pipeline.engine.job import Job
        from wikisum.pipeline.engine.runner import check_beam_flags
        from wikisum.pipeline.engine.workspace import Workspace

        check_beam_flags(beam_flags)
        files.check_path(args.out)
        if args.workers is not None and args.workers < 1:
            raise ValueError(f"--workers must be over 0, not {args.workers}")
        workers = args.workers or os.cpu_count() or 1
        self._stack = contextlib.ExitStack()
        # its own descriptor, since standard error becomes a log while pipelines run
        to = self._stack.enter_context(os.fdopen(os.dup(2), "w", buffering=1))
        self._job = Job(Workspace(args.out), to, workers, tuple(beam_flags))

    def __enter__(self) -> "Job":
        try:
            self._stack.enter_context(self._job.workspace.locked())
        except BaseException:
            self._stack.close()
            raise
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, self._interrupt)
            self._stack.callback(signal.signal, signal.SIGINT, before)
        return self._job

    def _interrupt(self, *_: Any) -> None:
        """Leave at once: Beam would wait for workers that the same signal has ended.

        What is on disk is whole, and workers end when they lose us.
        """
        self._job.to.write("\nwikisum: interrupted; the same command goes on from here\n")
        os._exit(INTERRUPTED)

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
