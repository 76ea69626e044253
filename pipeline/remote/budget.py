"""One budget of requests per second for all workers of a machine, kept in a small locked file."""

import fcntl
import os
import struct
import threading
import time
from collections.abc import Callable

_TIME = struct.Struct("<d")
LONGEST_HOLD_SECONDS = 3600.0


class Budget:
    """When the next request may be sent: at most `per_second`, or without a limit if it is 0.

    All processes that name the same `path` share it; without one only the threads of this process
    share it, and `per_second` must be this process's part of the rate.
    """

    def __init__(
        self,
        path: str | None,
        per_second: float,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path = path
        self._interval_seconds = 1.0 / per_second if per_second else 0.0
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._own = bytearray(_TIME.size)

    def take(self) -> None:
        """Wait until a request may be sent."""
        wait_seconds = self._move(0.0, self._interval_seconds)
        if wait_seconds > 0:
            self._sleep(wait_seconds)

    def hold(self, seconds: float) -> None:
        """Let no process send a request for `seconds`."""
        self._move(seconds, 0.0)

    def _move(self, least_seconds: float, then_seconds: float) -> float:
        """Move the time of the next request; return the seconds until it."""
        with self._lock:
            if self._path is None:
                wait_seconds, data = self._moved(bytes(self._own), least_seconds, then_seconds)
                self._own[:] = data
                return wait_seconds
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                data = os.pread(file, _TIME.size, 0)
                wait_seconds, data = self._moved(data, least_seconds, then_seconds)
                os.pwrite(file, data, 0)
            finally:
                os.close(file)
            return wait_seconds

    def _moved(self, data: bytes, least_seconds: float, then_seconds: float) -> tuple[float, bytes]:
        now = self._clock()
        following = _TIME.unpack(data)[0] if len(data) == _TIME.size else now
        if not following <= now + LONGEST_HOLD_SECONDS:  # a clock set back
            following = now
        start = max(following, now + least_seconds)
        return start - now, _TIME.pack(start + then_seconds)
