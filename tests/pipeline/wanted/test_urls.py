import pytest

from wikisum.pipeline.wanted.search_results import SearchResult
from wikisum.pipeline.wanted.urls import (
    MAX_DETAIL_CHARS,
    CitingArticle,
    duplicate_titles,
    unknown_titles,
    wanted_urls,
)


def test_each_page_is_wanted_once_and_citations_come_first():
    wanted, dropped = wanted_urls(
        "id",
        ["http://a.example/", "http://b.example/"],
        [["https://www.b.example/", "http://c.example/?utm_source=x", "ftp://d.example/"]],
        "combined",
    )
    assert [(w.url, w.source, w.rank) for w in wanted] == [
        ("http://a.example/", "citation", 0),
        ("http://b.example/", "citation", 1),
        ("http://c.example/", "search", 1),
    ]
    assert [(d.kind, d.reason, d.detail) for d in dropped] == [
        ("reference", "not_http", "ftp://d.example/")
    ]


@pytest.mark.parametrize(("corpus", "count"), [("citations", 1), ("search", 2), ("combined", 3)])
def test_corpora(corpus, count):
    searched = [["http://b.example/", "http://c.example/"]]
    wanted, _ = wanted_urls("id", ["http://a.example/"], searched, corpus)
    assert len(wanted) == count


def test_wikipedias_own_pages_are_wanted_with_a_reason():
    wanted, dropped = wanted_urls(
        "id",
        ["http://en.wikipedia.org/wiki/A", "http://a.example/"],
        [["https://de.wikipedia.org/wiki/B", "http://c.example/"]],
        "combined",
    )
    assert [(w.url, w.source, w.rank, w.reason) for w in wanted] == [
        ("http://en.wikipedia.org/wiki/A", "citation", 0, "wikipedia_itself"),
        ("http://a.example/", "citation", 1, None),
        ("http://de.wikipedia.org/wiki/B", "search", 0, "wikipedia_itself"),
        ("http://c.example/", "search", 1, None),
    ]
    assert dropped == []


def test_urls_of_the_original_files_have_a_source_of_their_own():
    (wanted,), _ = wanted_urls("id", ["http://a.example/"], [], "combined", "original")
    assert wanted.source == "original"


def test_urls_that_cannot_be_parsed_take_no_rank_and_are_cut():
    bad = "ftp://d.example/" + "x" * 1000
    (wanted,), (row,) = wanted_urls("id", [], [[bad, "http://a.example/"]], "search")
    assert wanted.rank == 0
    assert row.detail == bad[:MAX_DETAIL_CHARS]
    assert (row.article, row.url, row.stage) == ("id", None, "wanted")


def test_of_several_articles_with_one_title_the_first_counts():
    articles = [
        CitingArticle("b", 0, "id", ["http://b.example/"]),
        CitingArticle("a", 10, "id", []),
        CitingArticle("a", 9, "id", ["http://a.example/"]),
    ]
    rows = duplicate_titles(articles)
    assert [(r.kind, r.reason, r.file, r.offset) for r in rows] == [
        ("article", "duplicate_title", "a", 10),
        ("article", "duplicate_title", "b", 0),
    ]
    assert duplicate_titles(articles[:1]) == []


def test_search_results_of_unknown_titles_are_named():
    results = [SearchResult("f", 20, "B", []), SearchResult("f", 3, "A", ["http://a.example/"])]
    assert [(r.kind, r.reason, r.file, r.offset, r.detail) for r in unknown_titles(results)] == [
        ("record", "unknown_title", "f", 3, "A"),
        ("record", "unknown_title", "f", 20, "B"),
    ]
