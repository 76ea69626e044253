import asyncio

import pytest

from tests.pipeline.live.test_archive import exchange
from wikisum.crawl.web.targets import Target, target_of
from wikisum.pipeline.live.client import Exchange, NotFetched
from wikisum.pipeline.live.fetcher import Fetcher, LivePage, PageResult, fetch_page
from wikisum.pipeline.live.settings import LiveSettings

PAGE = LivePage("http://a.example/x")
SECURE, PLAIN = "https://a.example", "http://a.example"
WWW_SECURE, WWW_PLAIN = "https://www.a.example", "http://www.a.example"
DNS = NotFetched("dns_failed", "no such name", is_unreached=True)
REFUSED = NotFetched("connection_refused", "refused", is_unreached=True)
ROBOTS = NotFetched("robots_disallowed", "robots.txt")


class Hosts:
    """Answers each origin with an exchange or a failure; others do not exist."""

    def __init__(self, answers: dict[str, Exchange | NotFetched]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def follow(self, target: Target) -> tuple[list[Exchange], NotFetched | None]:
        origin = f"{target.scheme}://{target.host}"
        self.asked.append(origin)
        answer = self.answers.get(origin, DNS)
        return ([], answer) if isinstance(answer, NotFetched) else ([answer], None)


def fetch(page: LivePage = PAGE, **answers: Exchange | NotFetched) -> tuple[PageResult, list[str]]:
    origins = {"secure": SECURE, "plain": PLAIN, "www": WWW_SECURE, "www_plain": WWW_PLAIN}
    hosts = Hosts({origins[name]: answer for name, answer in answers.items()})
    return asyncio.run(fetch_page(hosts, page)), hosts.asked


def test_the_first_target_that_answers_is_the_page():
    result, asked = fetch(secure=exchange(f"{SECURE}/x"))
    assert asked == [SECURE]
    found = result.outcome
    assert (found.url, found.reason, found.status) == (PAGE.url, "fetched", 200)
    assert (found.final_url, found.file) == (f"{SECURE}/x", "")
    assert found.fetched_at == "2024-02-03T04:05:06Z"


def test_plain_http_is_tried_where_https_is_not_reached():
    result, asked = fetch(secure=REFUSED, plain=exchange(f"{PLAIN}/x"))
    assert asked == [SECURE, PLAIN]
    assert result.outcome.reason == "fetched"


def test_www_is_tried_only_for_an_unknown_name():
    result, asked = fetch(www=exchange(f"{WWW_SECURE}/x"))
    assert asked == [SECURE, WWW_SECURE]
    assert result.outcome.final_url == f"{WWW_SECURE}/x"
    result, asked = fetch(secure=REFUSED, plain=REFUSED)
    assert asked == [SECURE, PLAIN]
    assert (result.outcome.reason, result.outcome.status) == ("connection_refused", None)
    result, asked = fetch()
    assert asked == [SECURE, WWW_SECURE]
    assert result.outcome.reason == "dns_failed"


def test_a_host_that_was_reached_is_not_asked_in_another_spelling():
    result, asked = fetch(secure=ROBOTS)
    assert asked == [SECURE]
    assert result.outcome.reason == "robots_disallowed"
    assert "robots.txt" in result.outcome.detail
    result, asked = fetch(secure=exchange(f"{SECURE}/x", status=404))
    assert asked == [SECURE]
    assert (result.outcome.reason, result.outcome.status) == ("http_status_404", 404)
    assert result.outcome.detail.endswith("/x returned 404")


def test_a_listed_url_is_asked_as_it_is():
    page = LivePage(PAGE.url, "http://www.a.example/X")
    assert page.targets() == [target_of("http://www.a.example/X")]
    _, asked = fetch(page, www_plain=exchange(f"{WWW_PLAIN}/X"))
    assert asked == [WWW_PLAIN]


class Client:
    received_bytes = 0


@pytest.mark.parametrize(
    ("limits", "seen", "expected"),
    [
        ({}, 3, None),
        ({"max_bytes": 200}, 2, "size_limit"),
        ({"max_bytes": 300}, 3, None),  # reached with the last page
    ],
)
def test_pages_are_fetched_until_a_limit_is_reached(limits, seen, expected, monkeypatch):
    done: list[PageResult] = []
    client = Client()

    async def fetch_one(hosts: object, page: LivePage) -> PageResult:
        client.received_bytes += 100
        return PageResult([], page)

    monkeypatch.setattr("wikisum.pipeline.live.fetcher.fetch_page", fetch_one)
    settings = LiveSettings(concurrency=1, delay_seconds=0.0, **limits)
    pages = [LivePage(f"http://a.example/{number}") for number in range(3)]

    async def run() -> str | None:
        return await Fetcher(client, settings, done.append).run(pages)

    assert asyncio.run(run()) == expected
    assert [result.outcome for result in done] == pages[:seen]


def test_no_page_is_no_work():
    async def run() -> str | None:
        return await Fetcher(Client(), LiveSettings(), print).run([])

    assert asyncio.run(run()) is None
