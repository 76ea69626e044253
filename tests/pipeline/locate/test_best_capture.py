from itertools import permutations

from wikisum.crawl.index.cdx import Entry
from wikisum.pipeline.locate.best_capture import LookupResult, best_captures, fetch_order
from wikisum.pipeline.locate.settings import LocateSettings
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
    results = [best_captures(URL, list(some), settings) for some in permutations(candidates)]
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
    (capture,) = best_captures(URL, [found(1)], SETTINGS)
    assert capture == Capture(
        URL, "https://www.a.example/Page", "OLD", "f", 5, 10, "D", "text/html", 200,
        "20240101000000", 0,
    )  # fmt: skip


def missing(*candidates: LookupResult) -> Dropped:
    row = best_captures(URL, list(candidates), SETTINGS)
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


def test_captures_are_fetched_by_place_and_second_choices_last():
    (one,) = best_captures(URL, [found()], SETTINGS)
    captures = [
        one._replace(choice=1, warc_file="a"),
        one._replace(warc_file="b", offset=1),
        one._replace(warc_file="a", offset=9),
        one._replace(warc_file="a", offset=2),
    ]
    places = [(c.choice, c.warc_file, c.offset) for c in sorted(captures, key=fetch_order)]
    assert places == [(0, "a", 2), (0, "a", 9), (0, "b", 1), (1, "a", 5)]


def test_a_record_in_two_crawls_is_of_the_crawl_named_first():
    (capture,) = best_captures(URL, [found(1), found(0), found(0, hops=1)], SETTINGS)
    assert capture.crawl == "NEW"


def test_the_reason_is_that_of_the_last_redirect():
    row = missing(lost("http_503", 0), lost("http_status_404", 0, hops=1, filename="target"))
    assert (row.reason, row.file) == ("http_status_404", "target")
    assert row.detail == "NEW: http_status_404, OLD: not_in_crawl"
