"""Calls with a deadline: the function runs in a child process that can be killed.

A parser written in C cannot be interrupted from within its process, and the threads of a worker
receive no signals. So it runs in a child process, which is killed when its time is over and started
again for the next call. The child ends with its parent, because its connection is closed then.
"""

import importlib
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class KillableCallFailed(Exception):
    """The function ran out of time, or its process died; the message says which."""


class KillableCall:
    """Calls `function` ("module:name") in a child process, one call at a time, in bounded time."""

    def __init__(self, function: str, timeout_seconds: float) -> None:
        self._function = function
        self._timeout_seconds = timeout_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
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
        connection = self._connected()
        try:
            connection.send(arguments)
            answer: tuple[bool, Any] = connection.recv()
        except BlockingIOError as error:  # the limit of the socket
            self.close()
            message = f"{self._function} took over {self._timeout_seconds:g} s"
            raise KillableCallFailed(message) from error
        except (EOFError, OSError):
            self.close()
            return None
        except BaseException:  # the next call must not get this answer
            self.close()
            raise
        return answer

    def _connected(self) -> Connection:
        """Return the connection to the child, which is started if it does not run."""
        if self._connection is None or self._child is None or self._child.poll() is not None:
            self.close()
            ours, theirs = socket.socketpair()
            with theirs:
                limit = _timeval(self._timeout_seconds)
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
                ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
                self._connection = Connection(ours.detach())
                self._child = subprocess.Popen(
                    [sys.executable, "-m", "wikisum.crawl.wikipedia.deadline", self._function],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # or it would hold open what its parent redirects
                )
        return self._connection

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _timeval(seconds: float) -> bytes:
    """Return a C `struct timeval`."""
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1e6))


def _serve(function: Callable[..., Any], connection: Connection) -> None:
    while True:
        try:
            arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = (False, function(*arguments))
        except Exception as error:
            answer = (True, error)
        connection.send(answer)


if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    with Connection(sys.stdin.fileno()) as connection_to_parent:
        _serve(getattr(importlib.import_module(module), name), connection_to_parent)
