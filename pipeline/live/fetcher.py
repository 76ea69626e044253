"""Fetch pages of many hosts concurrently, one per host at a time, until a limit is reached."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from wikisum.crawl.web.targets import Target, first_targets, target_of
from wikisum.pipeline.live.client import Exchange, NotFetched, WebClient
from wikisum.pipeline.live.hosts import Hosts
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import Outcome

FETCHED = "fetched"


class LivePage(NamedTuple):
    """A page to fetch: its canonical URL, and the one to ask for, if that is known."""

    url: str
    listed: str | None = None

    def targets(self) -> list[Target]:
        """What to ask for, likeliest first. Raises BadUrl."""
        return [target_of(self.listed)] if self.listed is not None else first_targets(self.url)


class PageResult(NamedTuple):
    """The responses for a page, in order, and its outcome, whose `file` is still empty."""

    hops: list[Exchange]
    outcome: Outcome


async def fetch_page(hosts: Hosts, page: LivePage) -> PageResult:
    """Fetch a page from the first of its targets that exists.

    `www.` is tried only for a name that does not exist without it.
    """
    targets = page.targets()
    first = targets[0].host
    unknown: set[str] = set()
    hops: list[Exchange] = []
    failure: NotFetched | None = None
    for target in targets:
        if target.host in unknown or (target.host != first and first not in unknown):
            continue
        hops, failure = await hosts.follow(target)
        if hops or failure is None or not failure.is_unreached:
            break
        if failure.reason == "dns_failed":
            unknown.add(target.host)
    return PageResult(hops, _outcome(page.url, hops, failure))


def _outcome(url: str, hops: list[Exchange], failure: NotFetched | None) -> Outcome:
    status = hops[-1].status if hops else None
    final_url = hops[-1].target.url if hops else None
    moment = (hops[-1].fetched_at if hops else datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    if failure is not None:
        reason, detail = failure.reason, str(failure)
    elif status == 200:
        reason, detail = FETCHED, ""
    else:
        reason, detail = f"http_status_{status}", f"{final_url} returned {status}"
    return Outcome(url, reason, detail, status, final_url, "", moment)


class Fetcher:
    """Fetches pages and calls `done` with each result as soon as it is known."""

    def __init__(
        self, client: WebClient, settings: LiveSettings, done: Callable[[PageResult], None]
    ) -> None:
        self._client = client
        self._hosts = Hosts(client, settings)
        self._settings = settings
        self._done = done
        self._start = time.monotonic()
        self._pages: dict[str, deque[LivePage]] = {}
        self._ready: asyncio.PriorityQueue[tuple[float, int, str]] = asyncio.PriorityQueue()

    async def run(self, pages: Iterable[LivePage]) -> str | None:
        """Fetch the pages; return the limit that was reached before the end, if any."""
        for page in pages:
            self._pages.setdefault(page.targets()[0].host, deque()).append(page)
        for number, host in enumerate(self._pages):
            self._ready.put_nowait((0.0, number, host))
        async with asyncio.TaskGroup() as group:
            workers = [
                group.create_task(self._work())
                for _ in range(min(self._settings.concurrency, len(self._pages)))
            ]
            await self._ready.join()
            for worker in workers:
                worker.cancel()
        return self._limit()

    def _limit(self) -> str | None:
        if not any(self._pages.values()):
            return None
        seconds, max_bytes = self._settings.max_seconds, self._settings.max_bytes
        if seconds is not None and time.monotonic() - self._start >= seconds:
            return "time_limit"
        if max_bytes is not None and self._client.received_bytes >= max_bytes:
            return "size_limit"
        return None

    async def _work(self) -> None:
        """Take the host that may be asked next, fetch one of its pages, put it back."""
        while True:
            free_at, number, host = await self._ready.get()
            await self._rest_until(free_at)
            if not self._limit():
                page = self._pages[host].popleft()
                self._done(await fetch_page(self._hosts, page))
                if self._pages[host]:
                    self._ready.put_nowait((self._hosts.free_at(host), number, host))
            self._ready.task_done()

    async def _rest_until(self, moment: float) -> None:
        """Sleep until then, or until there is no time left."""
        if self._settings.max_seconds is not None:
            moment = min(moment, self._start + self._settings.max_seconds)
        await asyncio.sleep(max(0.0, moment - time.monotonic()))
