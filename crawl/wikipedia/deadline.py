"""Calls with a deadline: the function runs in a child process that can be killed.

A parser written in C cannot be interrupted from within its process, and the threads of a worker
receive no signals. So it runs in a child process, which is killed when its time is over and started
again for the next call. The child ends with its parent, because its standard input is closed then.
"""

import importlib
import pickle
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, cast

_LENGTH = struct.Struct(">Q")


class KillableCallFailed(Exception):
    """The function ran out of time, or its process died; the message says which."""


class KillableCall:
    """Calls `function` ("module:name") in a child process, one call at a time, in bounded time."""

    def __init__(self, function: str, timeout_seconds: float) -> None:
        self._function = function
        self._timeout_seconds = timeout_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return KillableCall, (self._function, self._timeout_seconds)

    def call(self, *arguments: Any) -> Any:
        """Return the function's result, or raise what it raised. Raises KillableCallFailed.

        A child that dies for another reason than its time, such as lack of memory, is tried twice:
        the result should depend on the arguments alone.
        """
        with self._lock:
            answer = self._answer(arguments) or self._answer(arguments)
        if answer is None:
            raise KillableCallFailed(f"{self._function} died")
        is_error, value = answer
        if is_error:
            raise value
        return value

    def _answer(self, arguments: tuple[Any, ...]) -> tuple[bool, Any] | None:
        """Return what the child answers, None if it dies. Raises KillableCallFailed."""
        child = self._running_child()
        timer = threading.Timer(self._timeout_seconds, child.kill)
        timer.start()
        try:
            _send(cast(BinaryIO, child.stdin), arguments)
            answer: tuple[bool, Any] | None = _receive(cast(BinaryIO, child.stdout))
        except OSError:
            answer = None
        finally:
            timed_out = not timer.is_alive()
            timer.cancel()
        if answer is None:
            self.close()
            if timed_out:
                raise KillableCallFailed(f"{self._function} took over {self._timeout_seconds:g} s")
        return answer

    def _running_child(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                [sys.executable, "-m", "wikisum.crawl.wikipedia.deadline", self._function],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # or it would hold open what its parent redirects
            )
        return self._child

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child = None


def _send(pipe: BinaryIO, value: Any) -> None:
    data = pickle.dumps(value)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: BinaryIO) -> Any:
    """Return the next value, or None at the end of the pipe."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = pipe.read(size)
    return pickle.loads(data) if len(data) == size else None


def _serve(function: Callable[..., Any]) -> None:
    answers = cast(BinaryIO, sys.stdout.buffer)
    sys.stdout = sys.stderr  # nothing else may write to the pipe
    while (arguments := _receive(cast(BinaryIO, sys.stdin.buffer))) is not None:
        try:
            answer = (False, function(*arguments))
        except Exception as error:
            answer = (True, error)
        _send(answers, answer)


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    _serve(getattr(importlib.import_module(module), name))
