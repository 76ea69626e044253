import pytest

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


def test_only_its_beginning_is_read():
    body = b"# \n" * MAX_ROBOTS_BYTES + b"User-agent: *\nDisallow: /"
    assert robots_of(200, body).allows("http://example.org/")
