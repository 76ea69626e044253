import bz2
import gzip
import json
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.urls import (
    MAX_URL_CHARS,
    canonical_url,
    host,
    is_wikipedia,
    unwrap_archive,
    url_key,
)

PIECES = [
    "http://", "https://", "HTTP:", "//", "www.", "WWW2.", "a.com", "Ex.org", "münchen.de", "[::1]",
    "1.2.3.4", ":80", ":8080", ":", "@", "u:p@", "/", "\\", "?", "#", "#!", "&", "&amp;", "&#37;",
    "%", "%2", "%20", "%2F", "%25", "%E4", "%c3%bc", "é", "ß", "İ", "\u200b", "。", "／", "％",
    "\ud800", "\x00", "\t", " ", "+", "=", ";", ";jsessionid=A1", "&sid=" + "0f" * 16, "utm_a=1",
    "amp;", "&b=2", "a=1", "..", ".", "./", "/(S(" + "a" * 24 + "))", "/x.aspx", "x", "Y", "'",
    '"', "<", "[", "]", "{", "|", "~", "(", ")", "-", "_", "xn--", "mailto:", "http%3A%2F%2F",
]  # fmt: skip
SPELLINGS = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
WORDS = st.text(string.ascii_letters + string.digits + "-_.~", min_size=1, max_size=8).filter(
    lambda w: w.strip(".") != ""
)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://www.Example.com:443/a/../b/?utm_source=x&b=2&a=1#f", "example.com/b?a=1&b=2"),
        ("HTTP://User:pw@WWW2.Ex%61mple.COM.:80/A//c/./?", "example.com/A/c"),
        ("example.com", "example.com/"),
        ("example.com:8080/x", "example.com:8080/x"),
        ("//example.com/x/", "example.com/x"),
        ("http://http://example.com", "example.com/"),
        (r"http:\\example.com\x", "example.com/x"),
        ("  http://example.com/a b \n", "example.com/a%20b"),
        ("http://exam\nple.com/\x00a\ud800", "example.com/a"),
        ("http://example.com?x=1", "example.com/?x=1"),
        ("http://example.com/#!/section", "example.com/"),
        ("http://example.com/Path?Q=V", "example.com/Path?Q=V"),
        ("http://example.com/a?x=1&amp;y=2&amp;amp;z=3", "example.com/a?x=1&y=2&z=3"),
        ("http://example.com/a&#38;b&#x26;#38;c", "example.com/a&b&c"),
        ("http://example.com/?a=1;b=2&copy=3", "example.com/?a=1;b=2&copy=3"),
        ("http://example.com/%7Efoo%28bar%29%2c", "example.com/~foo(bar),"),
        ("http://example.com/a%2fb%3fc%23d%25", "example.com/a%2Fb%3Fc%23d%25"),
        ("http://example.com/?u=http%3A%2F%2Fb.com%2F%26c", "example.com/?u=http://b.com/%26c"),
        ("http://example.com/%zz%", "example.com/%25zz%25"),
        ("http://example.com/%e4", "example.com/%E4"),
        ("http://example.com/ü", "example.com/%C3%BC"),
        ("http://example.com/a|[b]", "example.com/a%7C%5Bb%5D"),
        ("http://example.com/?q=a+b&q=a%2Bb", "example.com/?q=a%2Bb&q=a+b"),
        ("http://example.com/;jsessionid=AB.c?x", "example.com/?x"),
        ("http://example.com/x?PHPSESSID=1&sid=" + "0f" * 16 + "&sid=5", "example.com/x?sid=5"),
        ("http://example.com/(S(" + "a1" * 12 + "))/x.aspx", "example.com/x.aspx"),
        ("http://example.com/?fbclid=1&gclid=2&mc_cid=3&_ga=4&pk_kwd=5", "example.com/"),
        ("http://bücher.example/", "xn--bcher-kva.example/"),
        ("http://FASS.de。/", "fass.de/"),
        ("http://ｆaß.de/", "xn--fa-hia.de/"),
        ("http://i❤.ws/", "xn--i-7iq.ws/"),
        ("http://my_site.example.com", "my_site.example.com/"),
        ("http://[2001:DB8:0::1]:80/x", "[2001:db8::1]/x"),
        ("http://192.0.2.7:81", "192.0.2.7:81/"),
        ("http://www.www3.example.com/", "example.com/"),
        ("http://www.com/", "www.com/"),
        ("http://ww2.example.com/", "ww2.example.com/"),
    ],
)
def test_canonical_form(url, canonical):
    assert canonical_url(url) == "http://" + canonical


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "bad_url"),
        ("http://", "bad_url"),
        ("word", "bad_url"),
        ("http://localhost/", "bad_url"),
        ("http://a..b.com/", "bad_url"),
        ("http://exa mple.com/", "bad_url"),
        ("http://example.com:99999/", "bad_url"),
        ("http://example.com:x/", "bad_url"),
        ("http://[::1/", "bad_url"),
        ("http://[no]/", "bad_url"),
        ("http://" + "a" * 300 + ".com", "bad_url"),
        ("mailto:me@example.com", "not_http"),
        ("ftp://example.com/x", "not_http"),
        ("javascript:alert('x.y')", "not_http"),
        ("http://example.com/" + "a" * MAX_URL_CHARS, "url_too_long"),
        ("http://example.com/" + "é" * 1000, "url_too_long"),
    ],
)
def test_no_web_address(url, reason):
    with pytest.raises(BadUrl) as caught:
        canonical_url(url)
    assert caught.value.reason == reason


@given(SPELLINGS | st.text() | SPELLINGS.map("http://a.com/".__add__))
@example("http://a.com/?amp;x&a")
@example("http://a.com/'#'")
@example("http://a.com/" + "&#38;#38;" * 400)
def test_total_and_idempotent(text):
    try:
        url = canonical_url(text)
    except BadUrl:
        return
    assert re.fullmatch(r"http://[a-z0-9_.:\-\[\]]+/[!-~]*", url)
    assert canonical_url(url) == url
    if "[" not in host(url) and len(url) < 2000:
        assert canonical_url("https://www." + url.removeprefix("http://")) == url


@given(st.lists(WORDS, max_size=3), st.dictionaries(WORDS, WORDS, max_size=3), st.data())
def test_spellings_of_one_page_meet(path, fields, data):
    pairs = [f"x{k}={v}" for k, v in fields.items()]
    url = canonical_url("http://a.example.org/" + "/".join(path) + "?" + "&".join(pairs))
    scheme = data.draw(st.sampled_from(["http://", "https://", "HTTPS://", "//"]))
    user = data.draw(st.sampled_from(["", "me@", "me:word@"]))
    port = data.draw(st.sampled_from(["", ":", ":80", ":443"]))
    slash = data.draw(st.sampled_from(["", "/", "/./"])) if path else ""
    query = "&".join(data.draw(st.permutations([*pairs, "utm_source=mail", ""])))
    end = data.draw(st.sampled_from(["", "#", "#top", "#!/a?b"]))
    letters = "/".join("".join(f"%{ord(c):02x}" for c in segment) for segment in path)
    name = data.draw(st.sampled_from(["", "www.", "www7."])) + "A.example.ORG"
    dot = data.draw(st.sampled_from(["", "."]))
    other = f"{scheme}{user}{name}{dot}{port}/{letters}{slash}?{query}{end}"
    assert canonical_url(other) == url


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://web.archive.org/web/20130102030405/http://e.org/x?y=1", "http://e.org/x?y=1"),
        ("https://web.archive.org/web/2013id_/https://e.org/", "https://e.org/"),
        ("https://web.archive.org/20130102030405/http://e.org:80/x", "http://e.org:80/x"),
        ("web.archive.org/web/2013*/e.org/x", "http://e.org/x"),
        ("http://web.archive.org/web/http://e.org/", "http://e.org/"),
        ("https://web.archive.org/save/http://e.org/", "http://e.org/"),
        ("http://wayback.archive.org/web/2013/http:/e.org/", "http://e.org/"),
        ("https://archive.org/wayback/available?url=e.org/x&timestamp=2013", "http://e.org/x"),
        (
            "https://web.archive.org/web/2013/https://web.archive.org/web/2012/http://e.org/",
            "http://e.org/",
        ),
        ("http://archive.is/2013.01.02-030405/http://e.org/", "http://e.org/"),
        ("https://archive.today/20130102030405/https://e.org/", "https://e.org/"),
        ("https://archive.ph/o/AbCdE/https://e.org/x", "https://e.org/x"),
        ("https://archive.vn/?run=1&url=https://e.org/x", "https://e.org/x"),
        ("http://archive.is/AbCdE", None),
        ("http://www.webcitation.org/query?url=http%3A%2F%2Fe.org%2Fx&date=2010-1-1", "http://e.org/x"),
        ("http://www.webcitation.org/5abcdEFGH?url=http://e.org/?a=1&date=2", "http://e.org/?a=1"),
        ("http://www.webcitation.org/5abcdEFGH", None),
        ("https://archive.wikiwix.com/cache/?url=http%3A%2F%2Fe.fr%2Fa", "http://e.fr/a"),
        ("http://webarchive.nationalarchives.gov.uk/20100101/http://x.gov.uk/y", "http://x.gov.uk/y"),
        ("http://webarchive.nationalarchives.gov.uk/ukgwa/2010/www.x.gov.uk", "http://www.x.gov.uk"),
        ("http://webarchive.loc.gov/all/20080102030405/http://e.org/", "http://e.org/"),
        ("https://swap.stanford.edu/was/20080102030405/http://e.org/", "http://e.org/"),
        ("http://wayback.archive-it.org/1234/20110102030405/http://e.org/", "http://e.org/"),
        ("https://wayback.archive-it.org/all/*/http://e.org/", "http://e.org/"),
        ("https://other-archive.example/wb/20110102030405mp_/http://e.org/", "http://e.org/"),
        ("http://webcache.googleusercontent.com/search?q=cache:AbC:www.e.org/x&cd=1", "http://www.e.org/x"),
        ("https://webcache.googleusercontent.com/search?q=cache:http://e.org/&hl=en", "http://e.org/"),
        ("https://archive.org/details/book", None),
        ("https://web.archive.org/", None),
        ("http://e.org/2013/http-server", None),
        ("http://e.org/login?url=http://a.org/", None),
        ("", None),
    ],
)  # fmt: skip
def test_archive_copies_give_the_page(url, page):
    assert unwrap_archive(url) == (page or url)


@given(SPELLINGS)
def test_unwrap_is_total(text):
    url = unwrap_archive("http://web.archive.org/web/2013/" + text)
    assert unwrap_archive(url) == url or "archive" in url


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("https://en.wikipedia.org/wiki/Cat", True),
        ("http://de.m.wikipedia.org/w/index.php?title=Katze", True),
        ("https://commons.wikimedia.org/wiki/File:A.jpg", True),
        ("https://www.wikiwand.com/en/Cat", True),
        ("https://encyclopedia.thefreedictionary.com/Cat", True),
        ("https://www.thefreedictionary.com/cat", False),
        ("http://www.nationmaster.com/encyclopedia/Cat", True),
        ("http://www.nationmaster.com/country-info/stats", False),
        ("https://notwikipedia.org/", False),
        ("https://wikipedia.org.example.com/", False),
        ("https://starwars.fandom.com/wiki/Yoda", False),
    ],
)
def test_wikipedia_and_its_mirrors(url, own):
    assert is_wikipedia(url) is own


def test_host_and_key():
    assert host("https://www.Example.com:8080/x") == "example.com"
    assert url_key("http://example.com/") == 18096097815684820230  # everywhere
    assert 0 <= url_key("http://example.com/x") < 1 << 64


@pytest.mark.slow
def test_crawl_records_meet_citations(real_data):
    with gzip.open(real_data / "wikigen-dev.warc.wet.gz", "rt", encoding="utf-8") as lines:
        crawled = {canonical_url(x[17:]) for x in lines if x.startswith("WARC-Target-URI: ")}
    with bz2.open(real_data / "wikigen-dev.xml.bz2", "rt", encoding="utf-8") as dump:
        cited = re.findall(r"&lt;ref&gt;\[(\S+) source", dump.read())
    results = (real_data / "wikigen-search-dev.jsonl").read_text().splitlines()
    searched = [url for line in results for url in json.loads(line)["urls"]]
    wanted = {canonical_url(unwrap_archive(url)) for url in cited + searched}
    assert len(crawled) == 2958
    assert len(crawled & wanted) >= 2957
    assert all(canonical_url(url) == url for url in crawled | wanted)
