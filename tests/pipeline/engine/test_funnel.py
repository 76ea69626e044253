from wikisum.pipeline.engine.funnel import Counts, beginning

COUNTS = Counts(
    {
        "articles": {"articles_out": 3, "dropped_article_no_lead": 9},
        "scan": {"documents_out": 5, "dropped_timeout": 1},
        "fetch": {"documents_out": 2},
        "examples": {"dropped_article_clone": 2, "dropped_article_no_lead": 1},
    },
    page_stages=["fetch", "scan", "live-scan"],
)


def test_pages_are_summed_over_the_stages_that_make_them():
    assert COUNTS.pages == {"documents_out": 7, "dropped_timeout": 1}


def test_only_later_stages_drop_what_a_stage_made():
    assert COUNTS.dropped_after("articles", "article") == {"clone": 2, "no_lead": 1}
    assert COUNTS.dropped_after("examples", "article") == {}


def test_a_count_is_0_where_nothing_was_counted():
    assert COUNTS.of("scan")["records_in"] == COUNTS.of("live")["fetched"] == 0
    assert COUNTS.has("scan")
    assert not COUNTS.has("live")


def test_the_maker_of_a_count_is_the_first_stage_that_has_it():
    assert COUNTS.maker_of("documents_out", default="x") == "scan"
    assert COUNTS.maker_of("references_out", default="wanted") == "wanted"


def test_names_lose_their_beginning():
    counts = {"paragraphs_kept": 4, "paragraphs_short": 1, "pages": 7}
    assert beginning(counts, "paragraphs_") == {"kept": 4, "short": 1}
    assert beginning(counts, "paragraphs_", without=["paragraphs_kept"]) == {"short": 1}
