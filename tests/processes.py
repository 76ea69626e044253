"""The command `wikisum` in a process of its own, which a test can kill.

The process is forked from a server that has loaded Beam, spaCy and torch (`tests/loaded.py`):
loading them takes several seconds of processor time, a fork none.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.loaded"])


def start(
    words: Sequence[object], log: Path | None = None, environment: Mapping[str, str] | None = None
) -> BaseProcess:
    """Start the command; what it prints goes to the log, or nowhere."""
    call = (list(map(str, words)), os.fspath(log or os.devnull), dict(environment or {}))
    process = _context.Process(target=_run, args=call)
    process.start()
    return process


def end(process: BaseProcess, number: int) -> int | None:
    """Send a signal and wait; return the exit code, negative for that of a signal."""
    if process.is_alive():
        assert process.pid is not None
        os.kill(process.pid, number)
    return wait(process)


def wait(process: BaseProcess, seconds: float = 300) -> int | None:
    """Wait for the end of a process and return its exit code."""
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError(f"the process did not end within {seconds} seconds")
    return process.exitcode


def _run(words: list[str], log: str, environment: dict[str, str]) -> None:
    """Be the command."""
    from wikisum.pipeline.cli import run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.environ.update(environment)
    tempfile.tempdir = None  # as the environment names it, not as the server found it
    sys.argv = ["wikisum", *words]
    run()
