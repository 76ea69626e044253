"""The job of a command: its output folder, held by this process, and its flags."""

import argparse
import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from wikisum.pipeline.commands.command import INTERRUPTED
from wikisum.pipeline.commands.flags import amount, count

if TYPE_CHECKING:
    from wikisum.pipeline.engine.job import Job
    from wikisum.pipeline.engine.workspace import StageResult


def add_job_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--out` and what `add_workers` adds."""
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    add_workers(parser)


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add `--verify`."""
    parser.add_argument(
        "--verify",
        action="store_true",
        help="compare the finished files with their recorded SHA-256 first, and make the damaged "
        "ones again",
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add `--workers`, `--memory` and `--stall-minutes`."""
    parser.add_argument(
        "--workers", type=count, metavar="N", help="worker processes (default: one per core)"
    )
    parser.add_argument(
        "--stall-minutes",
        type=count,
        default=180,
        metavar="N",
        help="on another engine, fail if a stage finishes no part for so long (default: 180)",
    )
    parser.add_argument(
        "--memory",
        type=amount,
        metavar="GIB",
        help="memory for joins, over all workers of this machine (default: 1 GiB per worker, at "
        "most half of the machine's); results do not depend on it",
    )


def add_dataset(parser: argparse.ArgumentParser, flag: str = "data") -> None:
    """Add the folder of a dataset, by position or by a flag."""
    parser.add_argument(
        "dataset", nargs="?", metavar="DIR", help="folder of the dataset, or its folder examples"
    )
    parser.add_argument(f"--{flag}", metavar="DIR", help="the same, as a flag")


def dataset_of(args: argparse.Namespace, flag: str = "data") -> str:
    """Return the folder that `add_dataset` asked for. Raises ValueError if there is not one."""
    named = [folder for folder in (args.dataset, vars(args)[flag]) if folder is not None]
    if len(named) != 1:
        problem = "name the folder of a dataset" if not named else "two folders are named"
        raise ValueError(f"{problem}: DIR or --{flag} DIR")
    return str(named[0])


def check_out(out: str) -> None:
    """Raise ValueError if `out` cannot be an output folder."""
    from wikisum.pipeline.engine import files

    if not out.strip():
        raise ValueError("--out is empty: name a folder")
    files.check_path(out)
    if not files.is_remote(out) and os.path.exists(out) and not os.path.isdir(out):
        raise ValueError(f"--out {out} is not a directory")


def done_stage(job: "Job", stage: str) -> "StageResult":
    """Return the record of a stage. Raises JobFailed naming what to run if it is not finished."""
    from wikisum.pipeline.errors import JobFailed

    result = job.workspace.finished(stage)
    if result is None:
        raise JobFailed(_missing(job.workspace.out, stage))
    return result


def _missing(out: str, stage: str) -> str:
    command = {"wanted": "scan", "graphs": "examples"}.get(stage, stage)
    return f"{out} has no finished {stage}: run `wikisum {command}` first"


def refresh_manifest(job: "Job") -> None:
    """Add what a command wrote beside a finished dataset to its manifest, report and card."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.engine.workspace import MANIFEST

    workspace = job.workspace
    if files.exists(workspace.path(MANIFEST)) and workspace.finished("tokenize"):
        flow.finish(job, flow.finished_stages(job))


class open_job:
    """The locked output folder and how to run in it, as a context.

    With `after`, the folder must exist and that stage be finished in it: no folder is created.
    Raises ValueError for a wrong call and JobFailed for a folder without that stage.
    """

    def __init__(
        self, args: argparse.Namespace, beam_flags: list[str], after: str | None = None
    ) -> None:
        from wikisum.pipeline.engine import files
        from wikisum.pipeline.engine.engines import check_reachable, checked_flags
        from wikisum.pipeline.engine.job import GIB, Job, default_memory_bytes
        from wikisum.pipeline.engine.workspace import Workspace
        from wikisum.pipeline.errors import JobFailed

        flags = checked_flags(beam_flags)
        check_out(args.out)
        check_reachable(flags, [args.out])
        # workers of other machines may run in another directory
        workspace = Workspace(files.whole_path(args.out) if flags else args.out)
        if after is not None and workspace.finished(after) is None:
            raise JobFailed(_missing(args.out, after))
        workers = args.workers or os.cpu_count() or 1
        memory_bytes = int(args.memory * GIB) if args.memory else default_memory_bytes(workers)
        self._stack = contextlib.ExitStack()
        # a descriptor of its own, since standard error is redirected while pipelines run
        to = self._stack.enter_context(os.fdopen(os.dup(2), "w", buffering=1))
        self._job = Job(workspace, to, workers, flags, args.stall_minutes, memory_bytes)

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

        Files on disk are complete, and workers end when this process does.
        """
        self._job.to.write("\nwikisum: interrupted; run the same command to resume\n")
        os._exit(INTERRUPTED)

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
