"""Compute how long to wait before the next request to a busy server."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_PAUSE_SECONDS = 60.0


def retry_after_seconds(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header (a number or a date) asks for, or None."""
    if not value:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())


def pause_seconds(
    failures: int, first_seconds: float, asked_seconds: float | None, random: Callable[[], float]
) -> float:
    """Return the pause after `failures` failures in a row: doubled each time, up to a minute.

    Half of it is random, so that clients that failed together do not return together. It is never
    shorter than the server asked for. `random` returns numbers in [0, 1).
    """
    doubled = first_seconds * 2.0 ** min(failures - 1, 30)
    pause = min(doubled, MAX_PAUSE_SECONDS) * (0.5 + 0.5 * random())
    return pause if asked_seconds is None else max(pause, asked_seconds)
