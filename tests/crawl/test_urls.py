import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.errors import BadUrl
from crawl.urls import canonical_url, host, is_wikipedia, surt_key, unwrap_archive, url_key


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://www.Example.com:443/a/../b/?utm_source=x&b=2&a=1#f", "http://example.com/b?a=1&b=2"),
        ("//example.com", "http://example.com/"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("http://user:pass@www2.example.com/A%7eb%2f?", "http://example.com/A~b%2F"),
        ("http://bücher.example/straße", "http://xn--bcher-kva.example/stra%C3%9Fe"),
        ("http://x.example/a b?c=100%", "http://x.example/a%20b?c=100%25"),
        ("http://x.example/;jsessionid=3F?y=1&amp;z=2", "http://x.example/?y=1&z=2"),
        ("http://x.example/?sid=7&PHPSESSID=abc", "http://x.example/?sid=7"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("http://www.com/", "http://www.com/"),
    ],
)  # fmt: skip
def test_canonical_form(url, canonical):
    assert canonical_url(url) == canonical


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mailto:x@y.example", "not_http"),
        ("ftp://x.example/a", "not_http"),
        ("javascript:alert(1)", "not_http"),
        ("", "bad_url"),
        ("http://", "bad_url"),
        ("http://nodots/", "bad_url"),
        ("http://x.example:99999/", "bad_url"),
        ("http://x.example/" + "a" * 5000, "url_too_long"),
    ],
)
def test_what_is_no_address(url, reason):
    with pytest.raises(BadUrl) as caught:
        canonical_url(url)
    assert caught.value.reason == reason


@given(st.text() | st.from_regex(r"(https?://)?[a-z.]{1,12}(:\d+)?/\S{0,30}"))
def test_total_and_idempotent(text):
    try:
        once = canonical_url(text)
    except BadUrl:
        return
    assert canonical_url(once) == once
    assert surt_key(once) == surt_key(text)


@given(
    st.sampled_from(["http://", "https://", "HTTP://", "//", ""]),
    st.sampled_from(["www.", "WWW2.", ""]),
    st.sampled_from(["", "/", "#top", "/?utm_campaign=spring", "?"]),
)
def test_variants_meet(scheme, prefix, end):
    assert canonical_url(f"{scheme}{prefix}Example.org/a{end}") == "http://example.org/a"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.com/", "com,example)/"),
        ("https://commoncrawl.org/the-data/get-started/", "org,commoncrawl)/the-data/get-started"),
        ("http://Example.com/Some/Path?B=2&a=1", "com,example)/some/path?a=1&b=2"),
        ("http://example.co.uk:8080/x", "uk,co,example:8080)/x"),
        ("http://192.0.2.1/x", "192.0.2.1)/x"),
    ],
)
def test_surt_keys(url, key):
    assert surt_key(url) == key


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("https://web.archive.org/web/2013id_/http://e.example/x?y=1", "http://e.example/x?y=1"),
        ("http://archive.is/20130101/http://e.example/", "http://e.example/"),
        ("http://archive.is/AbCd", "http://archive.is/AbCd"),
        ("https://web.archive.org/web/2013/https://web.archive.org/web/2012/http://e.example/",
         "http://e.example/"),
        ("http://www.webcitation.org/query?url=http%3A%2F%2Fe.example%2Fx&date=2010",
         "http://e.example/x"),
        ("https://web.archive.org/web/2010/e.example/path", "http://e.example/path"),
        ("http://e.example/web/2013", "http://e.example/web/2013"),
    ],
)  # fmt: skip
def test_archive_copies_are_unwrapped(copy, original):
    assert unwrap_archive(copy) == original


def test_wikipedia_and_its_mirrors_by_host():
    assert is_wikipedia("https://de.m.wikipedia.org/wiki/X")
    assert is_wikipedia("https://www.wikiwand.com/en/X")
    assert not is_wikipedia("https://notwikipedia.org/wiki/X")
    assert host("http://www.a.example:81/x") == "a.example"


def test_key_is_stable():
    assert url_key("http://example.com/") == 0xFB2241160C9DAD06
