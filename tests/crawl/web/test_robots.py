import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from wikisum.crawl.web.robots import MAX_ROBOTS_BYTES, robots_of

RULES = b"""
User-agent: *
Disallow: /private
Allow: /private/open
Crawl-delay: 3

User-agent: wikisum
Disallow: /ours
Request-rate: 1/7
"""


def test_our_own_group_counts_and_not_that_for_all():
    robots = robots_of(200, RULES)
    assert robots.allows("http://example.org/private")
    assert not robots.allows("http://example.org/ours/x")
    assert robots.delay_seconds == 7


def test_without_one_that_for_all_counts():
    robots = robots_of(200, RULES.partition(b"User-agent: wikisum")[0])
    assert not robots.allows("http://example.org/private/x")
    assert robots.allows("http://example.org/private/open/x")
    assert robots.delay_seconds == 3


def test_rules_without_a_delay_ask_for_no_pause():
    assert robots_of(200, b"User-agent: *\nDisallow: /private\n").delay_seconds == 0


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 410, 451])
def test_a_site_without_the_file_allows_all(status):
    assert robots_of(status, b"User-agent: *\nDisallow: /").allows("http://example.org/")


@pytest.mark.parametrize("status", [None, 429, 500, 503, 599])
def test_a_site_that_cannot_tell_allows_nothing(status):
    assert not robots_of(status, b"").allows("http://example.org/")
    assert robots_of(status, b"").delay_seconds == 0


@pytest.mark.parametrize(
    "body", [b"", b"<html>not robots</html>", b"\xff\xfe\x00", b"\xef\xbb\xbf"]
)
def test_a_file_without_rules_allows_all(body):
    assert robots_of(200, body).allows("http://example.org/")


@pytest.mark.parametrize("name", ["wikisum", "WikiSum", "wiki", "wikisum*", "wikisum # us"])
@pytest.mark.parametrize(
    "line", ["User-agent: {}", "user agent {}", " useragent :{}", "USER-AGENT {}"]
)
def test_our_name_is_known_in_every_spelling(name, line):
    body = f"User-agent: other\n{line.format(name)}\nUser-agent: third\nDisallow: /x\n"
    assert not robots_of(200, body.encode()).allows("http://example.org/x")
    assert robots_of(200, body.encode()).allows("http://example.org/y")


@pytest.mark.parametrize("name", ["wikisum2", "wikipedia", "sum", "otherwikisum"])
def test_names_of_others_do_not_count(name):
    body = f"User-agent: {name}\nDisallow: /\n"
    assert robots_of(200, body.encode()).allows("http://example.org/x")


@given(
    st.lists(st.sampled_from([*RULES.decode().splitlines(), "User-agent: foo", "user-agent:", ""]))
)
def test_leaving_out_other_agents_changes_nothing(lines):
    robots, plain = robots_of(200, "\n".join(lines).encode()), Protego.parse("\n".join(lines))
    for path in ("/", "/private/x", "/private/open", "/ours"):
        url = f"http://example.org{path}"
        assert robots.allows(url) == plain.can_fetch(url, "wikisum")


def test_many_agents_with_many_rules_take_no_time():
    agents = "".join(f"User-agent: {i}\nUser-agent: w{'*' * (i % 99)}{i}\n" for i in range(9_000))
    rules = "".join(f"Disallow: /{i}*\n" for i in range(9_000))
    start = time.process_time()
    assert robots_of(200, (agents + rules).encode()).allows("http://example.org/1")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "rule", ["Crawl-delay: 1e308", "Request-rate: 1/" + "9" * 4000, "Request-rate: 1/99999999d"]
)
def test_huge_delays_are_numbers(rule):
    robots = robots_of(200, f"User-agent: *\n{rule}\n".encode())
    assert 10**9 <= robots.delay_seconds < math.inf


def test_only_its_beginning_is_read():
    body = b"# \n" * MAX_ROBOTS_BYTES + b"User-agent: *\nDisallow: /"
    assert robots_of(200, body).allows("http://example.org/")
