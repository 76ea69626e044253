import itertools

import pytest

from wikisum.pipeline.examples.assign import (
    CaptureTime,
    Failure,
    assign_page,
    failure_priority,
    missing_page,
)
from wikisum.pipeline.records import WantedUrl

URL = "http://a.example/"
WANTED = WantedUrl(url=URL, article="1", source="citation", rank=4)
NOT_FOUND = Failure("scan", "http_status_404", "a", 1)
NOT_HTML = Failure("scan", "not_html", "b", 2)
NOT_LOCATED = Failure("locate", "not_in_crawl")
INDEX_FAILED = Failure("locate", "http_503")
REDIRECTED = Failure("live-scan", "http_status_302", "live/0", 5)
NO_HOST = Failure("live", "dns_failed", "live/0", None)


def test_the_newest_capture_counts_whatever_order_they_come_in():
    captures = [
        (CaptureTime("2021", "b", 0), "newest"),
        (CaptureTime("2020", "a", 7), "older"),
        (CaptureTime("2021", "a", 9), "same day, earlier file"),
    ]
    for order in itertools.permutations(captures):
        page = assign_page(URL, [WANTED], order, [NOT_FOUND])
        assert (page.capture, page.missing) == ("newest", [])
        assert [(r.kind, r.url, r.reason, r.file, r.offset, r.detail) for r in page.older] == [
            ("record", URL, "older_capture", "a", 7, "b at 0 is newer"),
            ("record", URL, "older_capture", "a", 9, "b at 0 is newer"),
        ]


def test_without_a_capture_each_article_gets_a_dropped_row():
    page = assign_page(URL, [WANTED, WANTED._replace(article="2", rank=0)], [], [NOT_FOUND])
    assert (page.capture, page.older) == (None, [])
    assert [(r.article, r.reason, r.detail) for r in page.missing] == [
        ("1", "http_status_404", "citation 4"),
        ("2", "http_status_404", "citation 0"),
    ]


def test_a_page_that_is_never_taken_gets_no_capture():
    wanted = [WANTED._replace(reason="wikipedia_itself")]
    captures = [(CaptureTime(year, "b", 0), year) for year in ("2020", "2021")]
    page = assign_page(URL, wanted, captures, [])
    assert (page.capture, page.older) == (None, [])
    assert [r.reason for r in page.missing] == ["wikipedia_itself"]


@pytest.mark.parametrize(
    ("failures", "reason", "file", "offset", "detail"),
    [
        ([], "not_in_crawl", None, None, "citation 4"),
        ([NOT_FOUND, NOT_HTML], "not_html", "b", 2, "citation 4"),
        ([NOT_LOCATED, NOT_FOUND], "http_status_404", "a", 1, "citation 4"),
        ([NOT_LOCATED, INDEX_FAILED], "http_503", None, None, "citation 4"),
        (
            [REDIRECTED, NOT_FOUND, NOT_HTML],
            "http_status_302", "live/0", 5, "citation 4; in the crawl: not_html (b at 2)",
        ),
        (
            [NO_HOST, NOT_LOCATED, REDIRECTED],
            "dns_failed", "live/0", None, "citation 4; in the crawl: not_in_crawl",
        ),
        ([NO_HOST], "dns_failed", "live/0", None, "citation 4"),
    ],
)  # fmt: skip
def test_a_page_without_a_document_has_its_most_informative_failure(
    failures, reason, file, offset, detail
):
    for order in itertools.permutations(failures):
        row = missing_page(WANTED, order)
        assert (row.kind, row.article, row.url, row.stage) == ("reference", "1", URL, "examples")
        assert (row.reason, row.file, row.offset, row.detail) == (reason, file, offset, detail)


def test_a_reason_of_the_wanted_url_goes_before_all_failures():
    row = missing_page(WANTED._replace(reason="wikipedia_itself"), [NOT_FOUND, NO_HOST])
    assert (row.reason, row.file, row.offset) == ("wikipedia_itself", None, None)
    assert row.detail == "citation 4"


def test_failures_at_one_place_are_ordered_by_reason_and_offset():
    first, second = Failure("scan", "a_reason", "f", 3), Failure("scan", "b_reason", "f", 1)
    assert failure_priority(first) < failure_priority(second)
    assert failure_priority(first) < failure_priority(first._replace(offset=4))
    assert failure_priority(first._replace(offset=None)) < failure_priority(
        first._replace(offset=0)
    )
