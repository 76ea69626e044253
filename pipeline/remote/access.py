"""Files under a crawl's root, by ranges: over HTTP, asked politely, or on any filesystem.

A server that is busy, resets, stalls or breaks off is asked again after pauses that grow; all
workers share one budget of requests. Several roots hold the same files: where one fails, the next
is asked.
"""

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import TypeVar
from urllib.parse import urlsplit

from wikisum import __version__
from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.web.pauses import pause_seconds
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.options import RemoteSettings
from wikisum.pipeline.remote.budget import Budget
from wikisum.pipeline.remote.ranges import RangeClient

POLITE_RATE = 2.0  # requests a second, of servers that are others'
LONGEST_WAIT_SECONDS = 900.0  # a server that asks for more is not asked again in this run
REST_SECONDS = 30.0  # for a root that does not answer, doubled each time
GONE_SECONDS = 900.0  # after which a server is taken to be down

T = TypeVar("T")


def is_http(url: str) -> bool:
    """Whether a web server is to be asked."""
    return url.startswith(("http://", "https://"))


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def rate_of(settings: RemoteSettings) -> float:
    """Requests a second that all workers may send together; 0 for no limit."""
    if settings.rate is not None:
        return settings.rate
    is_others = any(is_http(url) and not is_loopback(url) for url in settings.roots)
    return POLITE_RATE if is_others else 0.0


@dataclass
class _Root:
    """A place that holds the crawl, and since when it is silent."""

    url: str
    silences: int = 0
    rests_until: float = 0.0


class Roots:
    """What is known of the roots: which is to be asked next, and the sizes of files.

    One for all threads of a process.
    """

    def __init__(self, urls: tuple[str, ...], clock: Callable[[], float] = time.monotonic) -> None:
        self._roots = [_Root(url if url.endswith("/") else f"{url}/") for url in urls]
        self._clock = clock
        self._failing_since: float | None = None
        self.size_by_path: dict[str, int] = {}

    def next_url(self, failures: int) -> str:
        """The first root that does not rest, or after failures the next of them."""
        now = self._clock()
        awake = [root for root in self._roots if root.rests_until <= now] or self._roots
        return awake[failures % len(awake)].url

    def note_answer(self, url: str) -> None:
        """A root gave what it was asked for, or said that it has not got it."""
        self._failing_since = None
        for root in self._roots:
            if root.url == url:
                root.silences = 0

    def note_failure(self, url: str, is_silent: bool) -> None:
        """A root failed; one that is silent is let rest if there are others."""
        if self._failing_since is None:
            self._failing_since = self._clock()
        for root in self._roots:
            if root.url == url and is_silent and len(self._roots) > 1:
                root.silences += 1
                seconds = REST_SECONDS * 2.0 ** min(root.silences - 1, 6)
                root.rests_until = self._clock() + seconds

    def check(self) -> None:
        """Raises OSError if all requests have failed for a quarter of an hour."""
        since = self._failing_since
        if since is not None and self._clock() - since > GONE_SECONDS:
            urls = ", ".join(root.url for root in self._roots)
            raise OSError(f"{urls} does not answer; the same command goes on from here")


class Remote:
    """Reads files by their paths under the roots. Threads may share it.

    `costs` has the requests, those of them that were made again, and the bytes that came.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        roots: Roots,
        budget: Budget,
        client: RangeClient,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._roots = roots
        self._budget = budget
        self._client = client
        self._sleep = sleep
        self._chance = chance
        self._lock = threading.Lock()
        self.costs: Counter[str] = Counter()

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Exactly these bytes of a file. Raises BadAnswer."""

        def ask(root: str) -> bytes:
            if is_http(root):
                return self._client.read(root + path, offset, length)
            data = _from_files(lambda: files.read_range(root + path, offset, length))
            if len(data) < length:
                raise BadAnswer("past_end", f"{root}{path} ends before {offset + length}")
            return data

        data = self._until_answered(ask)
        self._count("bytes_read", length)
        return data

    def size(self, path: str) -> int:
        """The size of a file in bytes. Raises BadAnswer."""

        def ask(root: str) -> int:
            if is_http(root):
                return self._client.size(root + path)
            size = _from_files(lambda: files.size_bytes(root + path))
            if size is None:
                raise BadAnswer("no_such_file", f"there is no {root}{path}")
            return size

        sizes = self._roots.size_by_path
        if path not in sizes:
            sizes[path] = self._until_answered(ask)
        return sizes[path]

    def get(self, path: str, max_bytes: int) -> bytes:
        """A whole file, or the answer to a whole URL. Raises BadAnswer, also for a larger one."""

        def ask(root: str) -> bytes:
            if is_http(path):
                return self._client.get(path, max_bytes)
            if is_http(root):
                return self._client.get(root + path, max_bytes)
            data = _from_files(lambda: files.read_range(root + path, 0, max_bytes + 1))
            if len(data) > max_bytes:
                raise BadAnswer("too_large", f"{root}{path} has over {max_bytes} bytes")
            return data

        data = self._until_answered(ask)
        self._count("bytes_read", len(data))
        return data

    def _until_answered(self, ask: Callable[[str], T]) -> T:
        """What `ask` gives of one root or the next, asked again after failures that may pass."""
        failures = 0
        while True:
            root = self._roots.next_url(failures)
            self._budget.take()
            self._count("requests")
            try:
                answer = ask(root)
            except BadAnswer as error:
                if not error.is_transient:
                    self._roots.note_answer(root)
                    raise
                failures += 1
                self._pause(root, error, failures)
            else:
                self._roots.note_answer(root)
                return answer

    def _pause(self, root: str, error: BadAnswer, failures: int) -> None:
        """Wait until it is time to ask again. Raises the error if it is not to be."""
        self._roots.note_failure(root, error.reason in ("timeout", "no_connection"))
        wait_seconds = error.wait_seconds
        if failures >= self._settings.attempts or (wait_seconds or 0.0) > LONGEST_WAIT_SECONDS:
            self._roots.check()
            raise error
        self._count("requests_again")
        if wait_seconds is not None:
            self._budget.hold(wait_seconds)  # the server means all of us
        first = self._settings.first_pause_seconds
        self._sleep(pause_seconds(failures, first, wait_seconds, self._chance))

    def _count(self, name: str, number: int = 1) -> None:
        with self._lock:
            self.costs[name] += number


def _from_files(read: Callable[[], T]) -> T:
    """What a filesystem gives. Raises BadAnswer."""
    try:
        return read()
    except FileNotFoundError as error:
        raise BadAnswer("no_such_file", str(error)) from error
    except Exception as error:  # object stores raise whatever their libraries raise
        raise BadAnswer("unreadable", f"{type(error).__name__}: {error}", True) from error


@dataclass(frozen=True)
class Access:
    """How workers reach the crawl; goes to them. `workers` of them share the limits.

    `budget_path` is where the workers of one machine keep their budget; None if they are spread
    over machines, and then each has its part of the rate.
    """

    settings: RemoteSettings
    budget_path: str | None
    workers: int

    def __post_init__(self) -> None:
        """Raise ValueError or FileNotFoundError for a root that cannot be there."""
        for root in self.settings.roots:
            if not is_http(root):
                files.check_path(root)
                if not files.is_remote(root) and not os.path.isdir(root):
                    raise FileNotFoundError(f"--crawl-root {root} is no folder")

    @property
    def connections(self) -> int:
        """How many requests one worker may have out at a time."""
        return max(1, self.settings.connections // self.workers)

    def remote(self) -> Remote:
        """The way to the crawl of this process, with its own costs."""
        client = _client(self.settings, self.connections)
        return Remote(self.settings, _roots(self.settings.roots), _budget(self), client)


@lru_cache(maxsize=2)
def _client(settings: RemoteSettings, connections: int) -> RangeClient:
    contact = f" (+{settings.contact})" if settings.contact else ""
    agent = f"wikisum/{__version__}{contact}"
    return RangeClient(agent, connections, settings.timeout_seconds)


@lru_cache(maxsize=2)
def _roots(urls: tuple[str, ...]) -> Roots:
    return Roots(urls)


@lru_cache(maxsize=2)
def _budget(access: Access) -> Budget:
    rate = rate_of(access.settings)
    if access.budget_path is None:
        return Budget(None, rate / access.workers)
    os.makedirs(os.path.dirname(access.budget_path), exist_ok=True)
    return Budget(access.budget_path, rate)


def access_of(job: Job, settings: RemoteSettings) -> Access:
    """How the workers of a job reach the crawl."""
    is_one_machine = job.progress_folder is not None
    budget_path = job.workspace.work("requests.budget") if is_one_machine else None
    return Access(settings, budget_path, job.workers)
