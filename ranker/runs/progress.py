"""A progress line for work that this process does itself."""

import time
from typing import TextIO

_LIVE_LINE_EVERY_SECONDS = 0.5
_PLAIN_LINE_EVERY_SECONDS = 10.0


def clock(seconds: float) -> str:
    """Return the duration as m:ss or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class ProgressLine:
    """Draws how far counted work is: a line rewritten on a terminal, else a plain one at times."""

    def __init__(self, name: str, unit: str, total: int, to: TextIO, done: int = 0) -> None:
        self._name, self._unit, self._total, self._to = name, unit, total, to
        self._before = done
        self._start = self._drawn = time.monotonic()
        self._live = to.isatty()

    def draw(self, done: int, rest: str = "") -> None:
        """Tell that `done` of the whole is done, if it is time to; `rest` stands in the line."""
        now = time.monotonic()
        every = _LIVE_LINE_EVERY_SECONDS if self._live else _PLAIN_LINE_EVERY_SECONDS
        if now - self._drawn < every:
            return
        self._drawn = now
        rate = (done - self._before) / (now - self._start)
        left = f"  {clock((self._total - done) / rate)} left" if rate > 0 else ""
        line = (
            f"{self._name:<9} {done:,} of {self._total:,} {self._unit}  {rate:,.1f}/s{left}{rest}"
        )
        self._to.write(f"\r\x1b[K{line}" if self._live else line + "\n")
        self._to.flush()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._to.write(f"\r\x1b[K{text}\n" if self._live else f"{text}\n")
        self._to.flush()
