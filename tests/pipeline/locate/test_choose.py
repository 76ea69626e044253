from itertools import permutations

import pytest

from wikisum.crawl.index.cdx import Entry
from wikisum.pipeline.locate.choose import choose
from wikisum.pipeline.locate.keys import Lookup
from wikisum.pipeline.locate.look_up import LookupResult, redirect_of, results_of
from wikisum.pipeline.locate.reader import Answer
from wikisum.pipeline.options import LocateSettings
from wikisum.pipeline.records import Capture, Dropped

URL = "http://a.example/Page"
SETTINGS = LocateSettings(("NEW", "OLD"))


def entry(**changes: object) -> Entry:
    plain = Entry("example,a)/page", "20240101000000", "https://www.a.example/Page", 200,
                  "text/html", "text/html", "D", 5, 10, "f")  # fmt: skip
    return plain._replace(**changes)


def found(place: int = 0, hops: int = 0, **changes: object) -> LookupResult:
    return LookupResult(URL, place, hops, None, None, entry(**changes))


def lost(reason: str, place: int = 0, hops: int = 0, **changes: object) -> LookupResult:
    return LookupResult(URL, place, hops, reason, "detail", entry(**changes) if changes else None)


def chosen(*candidates: LookupResult, settings: LocateSettings = SETTINGS) -> list[str]:
    """The files chosen, the same in whatever order the candidates come."""
    results = [choose(URL, list(some), settings) for some in permutations(candidates)]
    assert all(result == results[0] for result in results)
    assert isinstance(results[0], list)
    assert [c.choice for c in results[0]] == list(range(len(results[0])))
    return [c.warc_file for c in results[0]]


def test_the_crawl_named_first_comes_first():
    old = found(1, filename="old", timestamp="20250101000000")
    assert chosen(old, found(0, filename="new")) == ["new", "old"]


def test_then_what_needs_no_redirect_then_the_newest():
    settings = LocateSettings(("NEW", "OLD"), captures=9)
    candidates = [
        found(hops=1, filename="moved", timestamp="20250101000000"),
        found(filename="text", mime_detected="text/plain", timestamp="20250101000000"),
        found(filename="older", timestamp="20230101000000"),
        found(filename="newer"),
    ]
    assert chosen(*candidates, settings=settings) == ["newer", "older", "text", "moved"]
    assert chosen(*candidates) == ["newer", "older"]
    nearest = LocateSettings(("NEW",), date="2023-02", captures=1)
    assert chosen(*candidates, settings=nearest) == ["older"]


def test_the_same_record_counts_once():
    assert chosen(found(), found(hops=1), found(offset=7)) == ["f", "f"]


def test_a_capture_tells_where_it_comes_from():
    (capture,) = choose(URL, [found(1)], SETTINGS)
    assert capture == Capture(
        URL, "https://www.a.example/Page", "OLD", "f", 5, 10, "D", "text/html", 200,
        "20240101000000", 0,
    )  # fmt: skip


def missing(*candidates: LookupResult) -> Dropped:
    row = choose(URL, list(candidates), SETTINGS)
    assert isinstance(row, Dropped)
    assert (row.kind, row.url, row.stage) == ("record", URL, "locate")
    return row


def test_a_miss_tells_why_for_each_crawl():
    assert missing().reason == "not_in_crawl"
    assert missing().detail == "NEW: not_in_crawl, OLD: not_in_crawl"
    row = missing(lost("http_status_404", 1, filename="f"), lost("http_503", 0))
    assert (row.reason, row.detail) == ("http_503", "NEW: http_503, OLD: http_status_404")
    row = missing(lost("http_status_404", 1, filename="g", offset=9))
    assert (row.reason, row.file, row.offset) == ("http_status_404", "g", 9)


LOOKUP = Lookup("example,a)/page", URL, URL)


def candidates(*entries: Entry, most: int = 2) -> list[LookupResult]:
    return list(results_of(LOOKUP, Answer([LOOKUP], list(entries), []), 0, 0, None, most))


def test_only_captures_of_the_very_page_count():
    other_case = entry(url="http://a.example/page")
    assert candidates(other_case) == []
    assert candidates(other_case, entry(url="::")) == []
    assert len(candidates(entry(), entry(), entry())) == 2


def test_of_useless_captures_one_tells_why():
    (row,) = candidates(entry(status=404), entry(status=500, timestamp="20250101000000"))
    assert row.reason == "http_status_500"
    (row,) = candidates(entry(status=404), entry())
    assert row.reason is None


@pytest.mark.parametrize(
    ("redirect", "target"),
    [
        ("/Other", "http://a.example/Other"),
        ("https://b.example/x", "http://b.example/x"),
        ("https://www.a.example/Page/", None),  # itself, in another spelling
        ("https://en.wikipedia.org/wiki/Page", None),
        ("mailto:a@b.example", None),
        ("", None),
    ],
)
def test_where_a_redirect_leads(redirect, target):
    answer = Answer([LOOKUP], [entry(status=301, redirect=redirect)], [])
    further = redirect_of(LOOKUP, answer, None)
    assert (further and further.url) == target
    assert further is None or further.wanted == URL


def test_a_page_that_is_there_is_not_followed():
    moved = entry(status=301, redirect="/Other", timestamp="20250101000000")
    assert redirect_of(LOOKUP, Answer([LOOKUP], [moved, entry()], []), None) is None
