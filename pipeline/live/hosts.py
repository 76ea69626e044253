"""Requests to hosts: one at a time, with pauses between them, as their robots.txt allows."""

import asyncio
import contextlib
import random
import time
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from wikisum.crawl.errors import BadRecord, BadUrl
from wikisum.crawl.http import decode_body
from wikisum.crawl.web.pauses import MAX_PAUSE_SECONDS, pause_seconds, retry_after_seconds
from wikisum.crawl.web.robots import MAX_REDIRECTS, MAX_ROBOTS_BYTES, Robots, robots_of
from wikisum.crawl.web.targets import Target, redirect_target
from wikisum.pipeline.live.client import Exchange, NotFetched, WebClient
from wikisum.pipeline.live.settings import LiveSettings

REDIRECTS = (301, 302, 303, 307, 308)
BUSY = (429, 503)
MAX_DELAY_SECONDS = 60.0  # a site that asks for more is left alone
MAX_UNREACHED = 3  # in a row, and the host is given up
MAX_RULES = 4096  # sites whose robots.txt is remembered


@dataclass
class _Host:
    """A host: when it may be asked again, and how often it was not reached."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    free_at: float = 0.0
    unreached: int = 0
    fate: NotFetched | None = None


class Hosts:
    """Requests pages from hosts: one at a time from each, with pauses, as robots.txt allows."""

    def __init__(self, client: WebClient, settings: LiveSettings) -> None:
        self._client = client
        self._settings = settings
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)
        self._rules: OrderedDict[str, asyncio.Future[Robots | NotFetched]] = OrderedDict()

    def free_at(self, host: str) -> float:
        """When, on the monotonic clock, the host may be asked again."""
        return self._hosts[host].free_at

    async def ask(self, target: Target) -> Exchange:
        """The answer of the page's host, if its robots.txt lets us ask. Raises NotFetched."""
        robots = await self._robots(target)
        if not robots.allows(target.url):
            reason = "robots_unreachable" if robots.rules is None else "robots_disallowed"
            raise NotFetched(reason, f"{target.url} may not be fetched")
        delay = robots.delay_seconds
        if delay > MAX_DELAY_SECONDS:
            raise NotFetched("robots_delay", f"{target.host} wants {delay:g} s between requests")
        return await self._ask(target, delay)

    async def follow(self, target: Target) -> tuple[list[Exchange], NotFetched | None]:
        """(the page and what it redirects to, in order; what went wrong at the end, or None)."""
        hops: list[Exchange] = []
        try:
            while len(hops) <= MAX_REDIRECTS:
                hops.append(await self.ask(target))
                location = hops[-1].header("location")
                if hops[-1].status not in REDIRECTS or location is None:
                    return hops, None
                target = redirect_target(target, location)
        except NotFetched as error:
            return hops, error
        except BadUrl as error:
            return hops, NotFetched(error.reason, f"redirected to {error}")
        return hops, NotFetched(
            "too_many_redirects", f"over {MAX_REDIRECTS} redirects, to {target.url}"
        )

    async def _robots(self, target: Target) -> Robots:
        """The rules of the page's site, asked for once. Raises NotFetched if it is not reached."""
        site = f"{target.scheme}://{target.authority}"
        if site not in self._rules:
            self._rules[site] = asyncio.ensure_future(self._read_robots(target))
            if len(self._rules) > MAX_RULES:
                self._rules.popitem(last=False)
        self._rules.move_to_end(site)
        found = await asyncio.shield(self._rules[site])
        if isinstance(found, NotFetched):
            raise NotFetched(found.reason, str(found), found.is_unreached)
        return found

    async def _read_robots(self, target: Target) -> Robots | NotFetched:
        hop = target._replace(path="/robots.txt")
        status, body = None, b""
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = await self._ask(hop, 0.0, any_type=True)
                status, body = answer.status, _decoded(answer)
                location = answer.header("location")
                if status not in REDIRECTS or location is None:
                    break
                hop = redirect_target(hop, location)
        except NotFetched as error:
            is_own = error.is_unreached or error.reason in ("private_address", "port_refused")
            if is_own and hop.host == target.host:
                return error
            status = None
        except BadUrl:
            status = 404
        return robots_of(status, body)

    async def _ask(self, target: Target, delay: float, any_type: bool = False) -> Exchange:
        """The answer, asked for again while the host is busy. Raises NotFetched."""
        host = self._hosts[target.host]
        for attempt in range(1, self._settings.attempts + 1):
            async with self._turn(host, delay):
                answer = await self._reach(host, target, any_type)
            if answer.status not in BUSY or attempt == self._settings.attempts:
                break
            asked = retry_after_seconds(answer.header("retry-after"), datetime.now(UTC))
            first = max(self._settings.delay_seconds, delay)
            pause = pause_seconds(attempt, first, asked, random.random)
            if pause > MAX_PAUSE_SECONDS:
                break
            host.free_at = max(host.free_at, time.monotonic() + pause)
        return answer

    async def _reach(self, host: _Host, target: Target, any_type: bool) -> Exchange:
        """Send one request; a host that cannot be reached is given up. Raises NotFetched."""
        if host.fate is not None:
            raise NotFetched(host.fate.reason, str(host.fate), host.fate.is_unreached)
        try:
            answer = await self._client.get(target, any_type)
        except NotFetched as error:
            host.unreached += error.is_unreached
            if error.reason == "dns_failed" or host.unreached >= MAX_UNREACHED:
                host.fate = error
            raise
        host.unreached = 0
        return answer

    @contextlib.asynccontextmanager
    async def _turn(self, host: _Host, delay: float) -> AsyncIterator[None]:
        """Wait for the host to be free, and let it rest afterwards."""
        async with host.lock:
            if host.fate is None:
                await asyncio.sleep(max(0.0, host.free_at - time.monotonic()))
            try:
                yield
            finally:
                rest = max(self._settings.delay_seconds, delay)
                host.free_at = max(host.free_at, time.monotonic() + rest)


def _decoded(answer: Exchange) -> bytes:
    headers = {"content-encoding": answer.header("content-encoding") or ""}
    try:
        return decode_body(headers, answer.body, 2 * MAX_ROBOTS_BYTES)
    except BadRecord:
        return b""
