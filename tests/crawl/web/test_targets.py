import pytest

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.web.targets import Target, first_targets, redirect_target, target_of


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a?b=c#d", "https://example.org/a?b=c"),
        ("http://user:secret@example.org:8080/x", "http://example.org:8080/x"),
        ("http://example.org/a b/é?q=ü&r=%20", "http://example.org/a%20b/%C3%A9?q=%C3%BC&r=%20"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org./", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://１２７。0。0。1/", "http://127.0.0.1/"),
        ("http://[2606:4700::0:1111]:80/", "http://[2606:4700::1111]/"),
        ("http://example.org/a\r\nHost: evil/", "http://example.org/aHost:%20evil/"),
    ],
)
def test_urls_as_requests_need_them(url, expected):
    assert target_of(url).url == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.org/", "not_http"),
        ("file:///etc/passwd", "not_http"),
        ("javascript:alert(1)", "not_http"),
        ("//example.org/", "not_http"),
        ("http://", "bad_url"),
        ("http:///path", "bad_url"),
        ("http://a b/", "bad_url"),
        ("http://example.org:99999/", "bad_url"),
        ("http://example.org:0/", "bad_url"),
        ("https://example.org:000/", "bad_url"),
        ("http://[::1/", "bad_url"),
        ("http://%31%32%37.0.0.1/", "bad_url"),
        ("http://-a.example/", "bad_url"),
        ("http://" + "a" * 64 + ".example/", "bad_url"),
        ("http://example.org/" + "a" * 9000, "url_too_long"),
    ],
)
def test_what_is_no_web_address_is_reported(url, reason):
    with pytest.raises(BadUrl) as caught:
        target_of(url)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "https://example.org/b"),
        ("c?d", "https://example.org/a/c?d"),
        ("//other.example/x", "https://other.example/x"),
        ("http://127.0.0.1/", "http://127.0.0.1/"),
        (" http://other.example ", "http://other.example/"),
    ],
)
def test_redirects_are_joined_to_their_page(location, expected):
    assert redirect_target(target_of("https://example.org/a/b"), location).url == expected


@pytest.mark.parametrize(
    "location", ["ftp://example.org/", "gopher://127.0.0.1:6379/_x", "http://[", ""]
)
def test_redirects_elsewhere_are_refused_or_lead_back(location):
    base = target_of("https://example.org/a")
    if location:
        with pytest.raises(BadUrl):
            redirect_target(base, location)
    else:
        assert redirect_target(base, location) == base


def test_a_canonical_url_is_tried_as_what_it_may_have_been():
    assert [t.url for t in first_targets("http://example.org/a")] == [
        "https://example.org/a",
        "http://example.org/a",
        "https://www.example.org/a",
        "http://www.example.org/a",
    ]
    assert [t.url for t in first_targets("http://8.8.8.8/")] == [
        "https://8.8.8.8/",
        "http://8.8.8.8/",
    ]
    assert first_targets("http://example.org:8080/") == [
        Target("http", "example.org", 8080, "/"),
        Target("https", "example.org", 8080, "/"),
    ]
