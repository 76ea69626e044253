"""Read ranges of the files under a crawl's roots: politely over HTTP, or on any filesystem.

A request that fails for a transient reason is repeated after growing pauses; all workers share one
budget of requests. Several roots hold the same files: where one fails, the next is asked.
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

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.web.pauses import pause_seconds
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.remote.budget import Budget
from wikisum.pipeline.remote.ranges import RangeClient
from wikisum.pipeline.remote.roots import Roots
from wikisum.pipeline.remote.settings import RemoteSettings, user_agent

POLITE_RATE = 2.0  # requests per second to servers of others
LONGEST_WAIT_SECONDS = 900.0  # a server that asks for a longer wait is given up in this run

T = TypeVar("T")


def is_http(url: str) -> bool:
    """Whether the URL is on a web server."""
    return url.startswith(("http://", "https://"))


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def rate_of(settings: RemoteSettings) -> float:
    """Requests per second that all workers together may send; 0 for no limit."""
    if settings.rate is not None:
        return settings.rate
    is_others = any(is_http(url) and not is_loopback(url) for url in settings.roots)
    return POLITE_RATE if is_others else 0.0


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
                raise BadAnswer("no_such_file", f"{root}{path} does not exist")
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
        """What `ask` returns for one root or the next, repeated after transient failures."""
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
        """Wait until it is time to ask again. Raises the error when it is time to give up."""
        self._roots.note_failure(root, error.reason in ("timeout", "no_connection"))
        wait_seconds = error.wait_seconds
        if failures >= self._settings.attempts or (wait_seconds or 0.0) > LONGEST_WAIT_SECONDS:
            self._roots.check()
            raise error
        self._count("requests_again")
        if wait_seconds is not None:
            self._budget.hold(wait_seconds)  # all workers must wait
        first = self._settings.first_pause_seconds
        self._sleep(pause_seconds(failures, first, wait_seconds, self._chance))

    def _count(self, name: str, number: int = 1) -> None:
        with self._lock:
            self.costs[name] += number


def _from_files(read: Callable[[], T]) -> T:
    """What `read` returns. Raises BadAnswer for any error of the filesystem."""
    try:
        return read()
    except FileNotFoundError as error:
        raise BadAnswer("no_such_file", str(error)) from error
    except Exception as error:  # object stores raise whatever their libraries raise
        raise BadAnswer("unreadable", f"{type(error).__name__}: {error}", True) from error


@dataclass(frozen=True)
class Access:
    """How workers reach the crawl. Sent to them; `workers` of them share the limits.

    `budget_path` is where the workers of one machine keep their budget; None if they may be spread
    over machines. Then at most `workers` tasks run at a time (`max_tasks`), wherever they run, and
    each process has that part of the rate.
    """

    settings: RemoteSettings
    budget_path: str | None
    workers: int

    def __post_init__(self) -> None:
        """Raise ValueError or FileNotFoundError for a root that cannot be read."""
        for root in self.settings.roots:
            if not is_http(root):
                files.check_path(root)
                if not files.is_remote(root) and not os.path.isdir(root):
                    raise FileNotFoundError(f"--crawl-root {root} is not a directory")

    @property
    def max_tasks(self) -> int | None:
        """How many tasks may send requests at a time; None for no limit."""
        is_limited = self.budget_path is None and rate_of(self.settings) > 0
        return self.workers if is_limited else None

    @property
    def connections(self) -> int:
        """How many requests one worker may have in flight."""
        return max(1, self.settings.connections // self.workers)

    def remote(self) -> Remote:
        """A reader for this process, which counts its own costs."""
        client = _client(self.settings, self.connections)
        return Remote(self.settings, _roots(self.settings.roots), _budget(self), client)


@lru_cache(maxsize=2)
def _client(settings: RemoteSettings, connections: int) -> RangeClient:
    return RangeClient(user_agent(settings.contact), connections, settings.timeout_seconds)


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
