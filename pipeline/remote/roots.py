"""The roots of a crawl, which hold the same files: those that do not respond rest for a while."""

import time
from collections.abc import Callable
from dataclasses import dataclass

REST_SECONDS = 30.0  # for a root that does not respond, doubled each time
GONE_SECONDS = 900.0  # without any response, after which the servers are considered down


@dataclass
class _Root:
    """A root, how often in a row it did not respond, and until when it is not asked."""

    url: str
    silences: int = 0
    rests_until: float = 0.0


class Roots:
    """Which root to ask next, and the sizes of files. All threads of a process share it."""

    def __init__(self, urls: tuple[str, ...], clock: Callable[[], float] = time.monotonic) -> None:
        self._roots = [_Root(url if url.endswith("/") else f"{url}/") for url in urls]
        self._clock = clock
        self._failing_since: float | None = None
        self.size_by_path: dict[str, int] = {}

    def next_url(self, failures: int) -> str:
        """The first root that does not rest, or, after failures, one of the next."""
        now = self._clock()
        awake = [root for root in self._roots if root.rests_until <= now] or self._roots
        return awake[failures % len(awake)].url

    def note_answer(self, url: str) -> None:
        """Record that a root responded, be it with an error that is not transient."""
        self._failing_since = None
        for root in self._roots:
            if root.url == url:
                root.silences = 0

    def note_failure(self, url: str, is_silent: bool) -> None:
        """Record a failure; a root that did not respond rests if there is another one."""
        if self._failing_since is None:
            self._failing_since = self._clock()
        for root in self._roots:
            if root.url == url and is_silent and len(self._roots) > 1:
                root.silences += 1
                seconds = REST_SECONDS * 2.0 ** min(root.silences - 1, 6)
                root.rests_until = self._clock() + seconds

    def check(self) -> None:
        """Raise OSError if all requests have failed for a quarter of an hour."""
        since = self._failing_since
        if since is not None and self._clock() - since > GONE_SECONDS:
            urls = ", ".join(root.url for root in self._roots)
            raise OSError(f"{urls} does not respond; run the same command to resume")
