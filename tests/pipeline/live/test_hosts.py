"""Politeness: robots.txt, one request of a host at a time, pauses, busy and dead hosts."""

import asyncio
import dataclasses
import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.servers import NOT_FOUND, Answer, Names, Network, Server, page, redirect
from wikisum.crawl.web.targets import target_of
from wikisum.pipeline.live import client as web_client
from wikisum.pipeline.live import hosts as web_hosts
from wikisum.pipeline.live.client import Exchange, NotFetched, WebClient
from wikisum.pipeline.live.hosts import Hosts
from wikisum.pipeline.live.settings import LiveSettings

PUBLIC = "93.184.216.34"
QUICK = LiveSettings(delay_seconds=0.0, timeout_seconds=20.0)


class Site:
    """Hosts that all lead to one server here; what is asked of it, and when."""

    def __init__(self, server: Server, network: Network, settings: LiveSettings) -> None:
        self.server = server
        self.network = network
        self.settings = settings
        self.names = Names(
            one_example=[[PUBLIC]], two_example=[[PUBLIC]], trap_example=[["10.0.0.1"]]
        )

    def run(self, *urls: str) -> list[tuple[list[Exchange], str | None]]:
        """What becomes of each page: the answers, and the reason of the failure at the end."""

        async def follow() -> list[tuple[list[Exchange], NotFetched | None]]:
            client = WebClient(self.settings, self.names)
            hosts = Hosts(client, self.settings)
            try:
                return await asyncio.gather(*(hosts.follow(target_of(url)) for url in urls))
            finally:
                await client.aclose()

        return [(hops, failure and failure.reason) for hops, failure in asyncio.run(follow())]


@pytest.fixture
def site(monkeypatch):
    """A function: answers by path, and settings -> a Site."""
    running = []

    def make(answers: Callable[[str], Answer], settings: LiveSettings = QUICK) -> Site:
        context = Server(answers).running()
        server = context.__enter__()
        running.append(context)
        network = Network(server.port)
        monkeypatch.setattr(web_client.httpcore2, "AnyIOBackend", lambda: network)
        return Site(server, network, settings)

    yield make
    for context in running:
        context.__exit__(None, None, None)


def robots(text: str) -> Callable[[str], Answer]:
    return lambda path: Answer(200, text.encode()) if path == "/robots.txt" else page()


def test_robots_are_asked_once_a_site_and_obeyed(site):
    here = site(robots("User-agent: *\nDisallow: /no"))
    found = here.run("http://one.example/a", "http://one.example/no/b", "http://one.example/c")
    assert [reason for _, reason in found] == [None, "robots_disallowed", None]
    assert sorted(here.server.paths) == ["/a", "/c", "/robots.txt"]
    here.run("http://one.example/a", "http://two.example/a")
    assert here.server.paths.count("/robots.txt") == 3  # another run, another host


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (NOT_FOUND, None),
        (Answer(403), None),
        (Answer(500), "robots_unreachable"),
        (Answer(503), "robots_unreachable"),
        (Answer(429), "robots_unreachable"),
        (Answer(raw=b"garbage\r\n"), "robots_unreachable"),
        (redirect("ftp://one.example/"), None),
        (redirect("http://trap.example/robots.txt"), "robots_unreachable"),
        (redirect("http://127.0.0.1/robots.txt"), "robots_unreachable"),
        (redirect("/robots.txt"), None),  # for ever
    ],
)
def test_a_site_without_good_robots(site, answer, reason):
    settings = LiveSettings(delay_seconds=0.0, timeout_seconds=20.0, attempts=1)
    here = site(lambda path: answer if path == "/robots.txt" else page(), settings)
    ((hops, found),) = here.run("http://one.example/a")
    assert found == reason
    assert len(hops) == (reason is None)
    assert all(address == PUBLIC for address, _ in here.network.connected)


def test_robots_may_be_moved_and_packed(site):
    import gzip

    moved = Answer(
        200, gzip.compress(b"User-agent: wikisum\nDisallow: /"), {"Content-Encoding": "gzip"}
    )
    answers = {"/robots.txt": redirect("http://two.example/r"), "/r": moved}
    here = site(lambda path: answers.get(path, page()))
    assert here.run("http://one.example/a")[0][1] == "robots_disallowed"


def test_a_site_that_wants_minutes_is_left_alone(site):
    here = site(robots("User-agent: *\nCrawl-delay: 600"))
    assert here.run("http://one.example/a") == [([], "robots_delay")]


def test_redirects_are_followed_and_each_is_checked(site):
    answers = {
        "/a": redirect("/b", 301),
        "/b": redirect("http://two.example/c", 308),
        "/c": page("the end"),
        "/trap": redirect("http://trap.example/x"),
        "/literal": redirect("http://127.0.0.1:22/"),
        "/decimal": redirect("http://2130706433/"),
        "/six": redirect("http://[::ffff:7f00:1]/"),
        "/link": redirect("http://169.254.169.254/latest/meta-data/"),
        "/file": redirect("file:///etc/passwd"),
        "/gopher": redirect("gopher://127.0.0.1:6379/_FLUSHALL"),
        "/ssh": redirect("http://two.example:22/"),
        "/loop": redirect("/loop"),
        "/nowhere": Answer(302, b""),
        "/robots.txt": NOT_FOUND,
    }
    here = site(lambda path: answers.get(path, NOT_FOUND))
    ((hops, reason),) = here.run("http://one.example/a")
    assert reason is None
    assert [h.target.url for h in hops] == [
        "http://one.example/a", "http://one.example/b", "http://two.example/c",
    ]  # fmt: skip
    expected = {
        "trap": "private_address", "literal": "private_address", "decimal": "private_address",
        "six": "private_address", "link": "private_address", "file": "not_http",
        "gopher": "not_http", "ssh": "port_refused", "loop": "too_many_redirects", "nowhere": None,
    }  # fmt: skip
    found = here.run(*(f"http://one.example/{path}" for path in expected))
    assert dict(zip(expected, (reason for _, reason in found), strict=True)) == expected
    assert {address for address, _ in here.network.connected} == {PUBLIC}
    assert here.server.paths.count("/loop") == 6


def test_robots_of_the_site_that_is_redirected_to_count(site, monkeypatch):
    def answers(path: str) -> Answer:
        host = here.server.requests[-1].host
        if path == "/robots.txt":
            return Answer(200, b"User-agent: *\nDisallow: /" if host == "two.example" else b"")
        return redirect("http://two.example/x")

    here = site(answers)
    ((hops, reason),) = here.run("http://one.example/a")
    assert (len(hops), reason) == (1, "robots_disallowed")
    assert "/x" not in here.server.paths


def test_the_rules_of_the_sites_asked_last_are_remembered(site, monkeypatch):
    monkeypatch.setattr(web_hosts, "MAX_RULES", 2)
    here = site(robots(""))
    here.names = Names(**{f"{name}_example": [[PUBLIC]] for name in ("a", "b", "c")})

    async def ask(order: str) -> None:
        client = WebClient(here.settings, here.names)
        hosts = Hosts(client, here.settings)
        for name in order:
            await hosts.follow(target_of(f"http://{name}.example/{name}"))
        await client.aclose()

    asyncio.run(ask("abacab"))  # b is forgotten for c, then c for b
    assert here.server.paths.count("/robots.txt") == 4


def test_a_host_is_asked_one_page_at_a_time_with_pauses(site):
    times: list[tuple[str, float]] = []
    busy = 0
    most = 0

    def answers(path: str) -> Answer:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        times.append((here.server.requests[-1].host, time.monotonic()))
        time.sleep(0.02)
        busy -= 1
        return page()

    here = site(answers, LiveSettings(delay_seconds=0.15, timeout_seconds=20.0))
    start = time.monotonic()
    found = here.run(*(f"http://one.example/{i}" for i in range(4)))
    assert [reason for _, reason in found] == [None] * 4
    moments = [moment for _, moment in times]
    assert len(moments) == 5  # robots.txt too
    assert all(b - a >= 0.15 for a, b in pairwise(moments))
    assert most == 1
    assert time.monotonic() - start < 10


def test_a_longer_pause_that_the_site_asks_for_is_kept(site):
    here = site(robots("User-agent: *\nCrawl-delay: 0.2"))
    start = time.monotonic()
    here.run(*(f"http://one.example/{i}" for i in range(3)))
    assert time.monotonic() - start >= 0.4


def test_a_busy_host_is_asked_again_after_a_pause(site):
    left = {"/a": 2, "/b": 9}

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return NOT_FOUND
        left[path] -= 1
        return Answer(503, b"busy", {"Retry-After": "0"}) if left[path] >= 0 else page()

    here = site(answers)
    (hops, _), (others, _) = here.run("http://one.example/a", "http://two.example/b")
    assert [h.status for h in hops] == [200]
    assert [h.status for h in others] == [503]
    assert here.server.paths.count("/a") == 3
    assert here.server.paths.count("/b") == 3


def test_a_host_that_wants_a_day_is_not_waited_for(site):
    busy = Answer(429, b"", {"Retry-After": "86400"})
    here = site(lambda path: NOT_FOUND if path == "/robots.txt" else busy)
    ((hops, _),) = here.run("http://one.example/a")
    assert [h.status for h in hops] == [429]
    assert here.server.paths == ["/robots.txt", "/a"]


def test_a_host_that_is_not_there_is_given_up(site, monkeypatch):
    here = site(robots(""))
    here.names = Names(dead_example=[[PUBLIC]])
    tries = 0

    async def refuse(host: str, *_: object) -> None:
        nonlocal tries
        tries += 1
        raise web_client.httpcore2.ConnectError("refused")

    monkeypatch.setattr(here.network, "connect_tcp", refuse)

    async def ask() -> list[str | None]:
        settings = dataclasses.replace(QUICK, any_port=True)
        client = WebClient(settings, here.names)
        hosts = Hosts(client, settings)
        found = []
        for i in range(10):
            url = f"{'https' if i % 2 else 'http'}://dead.example:{8000 + i}/"
            _, failure = await hosts.follow(target_of(url))
            found.append(failure and failure.reason)
            assert failure is not None
            assert failure.is_unreached
        for _ in range(3):
            await hosts.follow(target_of("http://unknown.example/"))
        await client.aclose()
        return found

    assert asyncio.run(ask()) == ["connect_failed"] * 10
    assert tries == web_hosts.MAX_UNREACHED
    assert here.names.asked.count("unknown.example") == 1
