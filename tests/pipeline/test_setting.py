import re
from pathlib import Path

import pytest

from wikisum.pipeline.locate.settings import crawl_date, crawl_name
from wikisum.pipeline.pages.settings import extractor
from wikisum.pipeline.remote.settings import (
    RETRY_REASONS,
    contact_address,
    crawl_root,
    http_url,
    index_url,
    retry_reasons,
)
from wikisum.pipeline.setting import language_code, language_or_any

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("parse", "good", "bad"),
    [
        (crawl_name, "CC-MAIN-2024-10", "../etc"),
        (crawl_date, "2024-02", "2024-13"),
        (http_url, "https://index.example/{crawl}-index", "ftp://x"),
        (http_url, "http://h", "https://"),
        (http_url, "http://[::1]:80/x", "http://[::1"),
        (http_url, "http://h:65535/x", "http://h:99999/x"),
        (http_url, "http://h", "http://h:0/"),
        (http_url, "http://h", "http://h/a b"),
        (http_url, "http://h:8080", "http://:8080"),
        (index_url, "https://index.example/{crawl}-index", "http://h/{crawl"),
        (index_url, "http://h/{crawl}/{crawl}", "http://h/{0}"),
        (crawl_root, "no/url:0", "http://h:0/"),
        (crawl_root, "s3://bucket/", "https://[h/"),
        (language_code, "en", ""),
        (language_code, "zh-min-nan", "zh-"),
        (language_code, "de", "../../etc"),
        (language_code, "sr-Latn", "xx yy"),
        (language_code, "e" * 35, "e" * 36),
        (language_code, "an", "any"),
        (language_or_any, "any", "any other"),
        (contact_address, "you@host.example", "(you)"),
        (contact_address, "https://host.example/", "ü"),
    ],
)
def test_words_of_flags(parse, good, bad):
    assert parse(good) == good
    with pytest.raises(ValueError, match=r"^must be "):
        parse(bad)


def test_an_extractor_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setattr("wikisum.pipeline.pages.settings.find_spec", lambda name: None)
    assert extractor("fast") == "fast"
    with pytest.raises(ValueError, match=r"pip install 'wikisum\[trafilatura\]'"):
        extractor("trafilatura")


def test_an_unknown_reason_is_answered_with_the_known_ones():
    assert retry_reasons("http_503,timeout") == {"http_503", "timeout"}
    with pytest.raises(ValueError, match=r"unknown reason 'foo'; known reasons: .*private_address"):
        retry_reasons("timeout,foo")


def test_every_reason_for_which_a_request_fails_is_known():
    found = set()
    for folder in ("pipeline/remote", "pipeline/live", "pipeline/locate", "crawl/web"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            found |= set(re.findall(r'(?:BadAnswer|NotFetched)\(\s*"(\w+)"', text))
    assert len(found) > 20
    assert found <= set(RETRY_REASONS)
