import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LEAD, article, document
from wikisum.crawl.tokens import terms
from wikisum.pipeline.commands.settings import LIKE_T2T
from wikisum.pipeline.examples.assign import missing_page
from wikisum.pipeline.examples.make_example import (
    WantedDocument,
    _Pooled,
    dropped_outcome,
    make_example,
)
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.records import WantedUrl
from wikisum.pipeline.recurring.lines import text_key
from wikisum.ranker.rouge import rouge_tokens

GREEN = "The Tavin bridge was painted green by twelve men in one summer."
SHEEP = "Sheep were driven over the river at low water before that time."
NOON = "A ferry crossed the Tavin at noon and again at dusk on most days."


def make(*found: WantedDocument, recurring=frozenset(), **settings):
    given = ExampleSettings(**{"min_document_words": 0, **settings})
    return make_example(article(), list(found), given, recurring=recurring)


def test_best_paragraphs_first_with_their_place_and_label():
    made = make(
        WantedDocument("search", 0, document("http://s.example/", SHEEP, NOON)),
        WantedDocument("citation", 1, document("http://c.example/", GREEN)),
    )
    example = made.example
    assert [(d.url, d.source, d.rank) for d in example.documents] == [
        ("http://c.example/", "citation", 1),
        ("http://s.example/", "search", 0),
    ]
    assert [(p.text, p.document, p.position) for p in example.paragraphs] == [
        (GREEN, 0, 0),
        (NOON, 1, 1),
        (SHEEP, 1, 0),
    ]
    scores = [p.score for p in example.paragraphs]
    assert scores == sorted(scores, reverse=True)
    assert example.paragraphs[0].rouge2_recall == pytest.approx(2 / 48)
    assert made.counts["paragraphs_out"] == made.counts["paragraphs_pooled"] == 3
    assert made.sizes.citation_documents == made.sizes.search_documents == 1
    assert made.dropped == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"language": "de"}, "other_language"),
        ({"paragraphs": [LEAD]}, "clone"),
    ],
)
def test_documents_that_are_no_source(changes, reason):
    made = make(
        WantedDocument("citation", 0, document(**changes)),
        WantedDocument("citation", 1, document("http://b.example/", SHEEP)),
        language="en",
    )
    (row,) = made.dropped
    assert (row.kind, row.url, row.reason) == ("reference", "http://a.example/", reason)
    assert row.detail.startswith("citation 0, clone_score=")
    assert made.counts[f"dropped_reference_{reason}"] == 1
    assert len(made.example.documents) == 1


def test_another_threshold_keeps_the_clone_and_its_score():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", LEAD, SHEEP)), clone_threshold=1
    )
    assert made.example.documents[0].clone_score == 1.0
    assert [p.text for p in made.example.paragraphs] == [SHEEP]  # the lead itself is no paragraph
    assert made.counts["paragraphs_clone"] == 1


def test_an_article_without_documents_is_dropped_and_so_are_its_paragraphs():
    made = make(WantedDocument("citation", 0, document("http://a.example/", LEAD)))
    assert made.example is None
    assert [(r.kind, r.reason) for r in made.dropped] == [
        ("reference", "clone"),
        ("article", "no_documents"),
    ]


def test_a_paragraph_stands_once():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", GREEN)),
        WantedDocument("citation", 1, document("http://b.example/", GREEN.upper(), SHEEP)),
        WantedDocument("citation", 2, document("http://c.example/", GREEN)),
    )
    assert made.counts["paragraphs_duplicate"] == 2
    assert [(r.url, r.reason) for r in made.dropped] == [("http://c.example/", "no_paragraphs")]


def test_cuts_are_counted():
    found = WantedDocument("citation", 0, document("http://a.example/", GREEN, SHEEP, NOON))
    assert make(found, max_paragraphs=1).counts["paragraphs_cut"] == 2
    assert len(make(found, max_words=26).example.paragraphs) == 2


def test_required_citations():
    made = make(WantedDocument("search", 0, document()), require_citation=True)
    assert [r.reason for r in made.dropped] == ["no_citation", "no_citation"]
    assert made.counts["paragraphs_article_dropped"] == 1


def test_the_text_of_the_original_dataset():
    made = make_example(
        article(),
        [
            WantedDocument(
                "original", 0, document("http://a.example/", GREEN, NOON, language="de")
            ),
            WantedDocument("search", 0, document("http://b.example/", GREEN, LEAD)),
        ],
        LIKE_T2T[ExampleSettings],
    )
    example = made.example
    assert example.title == "tavin bridge"
    assert example.lead.startswith("the tavin bridge is an iron arch bridge over the river tavin ,")
    assert example.sections[0].text.endswith("both banks at once in 1880 .")
    assert [(p.text[:18], p.document, p.position) for p in example.paragraphs] == [
        ("the tavin bridge i", 1, 1),
        ("the tavin bridge w", 0, 0),
        ("the tavin bridge w", 1, 0),
        ("a ferry crossed th", 0, 1),
    ]
    assert made.dropped == []


def test_original_urls_stand_between_citations_and_search_results():
    made = make(
        WantedDocument("search", 0, document("http://s.example/", SHEEP)),
        WantedDocument("original", 0, document("http://r.example/", NOON)),
        WantedDocument("citation", 0, document("http://c.example/", GREEN)),
    )
    assert [d.source for d in made.example.documents] == ["citation", "original", "search"]
    sizes = made.sizes
    assert sizes.citation_words == len(GREEN.split())
    assert sizes.original_words == len(NOON.split())
    assert make(WantedDocument("original", 0, document()), require_citation=True).example
    assert not make(WantedDocument("search", 0, document()), require_citation=True).example


def test_documents_beyond_the_limit_are_dropped_in_list_order():
    found = [
        WantedDocument("search", 0, document("http://s.example/", NOON)),
        WantedDocument("citation", 1, document("http://b.example/", SHEEP)),
        WantedDocument("citation", 0, document("http://a.example/", GREEN)),
    ]
    for limit, kept in ((1, "a"), (2, "ab"), (3, "abs"), (4, "abs")):
        made = make(*found, max_documents=limit)
        assert [d.url[7] for d in made.example.documents] == list(kept)
        assert [(r.url[7], r.reason) for r in made.dropped] == [
            (name, "too_many_documents") for name in "abs"[limit:]
        ]
        assert made.counts.get("dropped_reference_too_many_documents", 0) == 3 - len(kept)
        assert made.counts["documents_out"] == len(kept)


def test_dropped_documents_do_not_count_toward_the_limit():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", LEAD)),
        WantedDocument("citation", 1, document("http://b.example/", SHEEP)),
        WantedDocument("citation", 2, document("http://c.example/", SHEEP)),
        WantedDocument("citation", 3, document("http://d.example/", NOON)),
        WantedDocument("citation", 4, document("http://e.example/", GREEN)),
        max_documents=2,
    )
    assert [d.url for d in made.example.documents] == ["http://b.example/", "http://d.example/"]
    reasons = [(r.url[7], r.reason) for r in made.dropped]
    assert reasons == [("a", "clone"), ("c", "no_paragraphs"), ("e", "too_many_documents")]


def test_a_clone_beyond_the_limit_is_called_a_clone():
    made = make(
        WantedDocument("citation", 0, document("http://b.example/", SHEEP)),
        WantedDocument("citation", 1, document("http://a.example/", LEAD)),
        max_documents=1,
    )
    assert [r.reason for r in made.dropped] == ["clone"]


@pytest.mark.parametrize(("language", "kept"), [("de", 1), ("any", 2), (None, 2)])
def test_a_page_without_a_language_is_of_any(language, kept):
    found = [
        WantedDocument("citation", 0, document("http://a.example/", SHEEP, language=None)),
        WantedDocument("citation", 1, document("http://b.example/", NOON, language="en")),
    ]
    assert len(make(*found, language=language).example.documents) == kept


@pytest.mark.parametrize("kept", [0, 1])
def test_a_score_at_the_threshold_is_no_clone(kept):
    half = " ".join(LEAD.split()[:30])
    score = make(WantedDocument("citation", 0, document("http://a.example/", half, GREEN)),
                 clone_threshold=1).example.documents[0].clone_score  # fmt: skip
    assert 0.5 < score < 1
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", half, GREEN)),
        clone_threshold=score if kept else score - 0.01,
    )
    assert len(made.example.documents if made.example else []) == kept


def test_the_outcome_names_its_article_also_without_an_example():
    made = make()
    assert (made.article, made.split, made.example, made.sizes) == (
        article().id, "train", None, None,
    )  # fmt: skip
    assert made.counts == {
        "articles_in": 1, "references_in": 0, "paragraphs_article_dropped": 0,
        "dropped_article_no_documents": 1,
    }  # fmt: skip


def test_sizes_of_the_whole_input():
    sizes = make(
        WantedDocument("citation", 0, document("http://a.example/", GREEN, LEAD)),
        WantedDocument("search", 0, document("http://b.example/", SHEEP, NOON)),
        max_paragraphs=1,
        clone_threshold=1,
    ).sizes
    assert sizes.lead_words == len(LEAD.split())
    assert (sizes.citation_documents, sizes.search_documents) == (1, 1)
    assert sizes.citation_words == len(GREEN.split())
    assert sizes.search_words == len(SHEEP.split()) + len(NOON.split())
    assert sizes.paragraphs == 3
    assert 0 < sizes.rouge1_recall < 1


def test_missing_pages_are_counted_with_the_rest():
    urls = [WantedUrl(f"http://{name}.example/", article().id, "search", 0) for name in "zb"]
    missing = [missing_page(url, []) for url in urls]
    found = [WantedDocument("citation", 0, document("http://a.example/", LEAD))]
    made = make_example(article(), found, ExampleSettings(), missing)
    assert [(r.kind, r.url, r.reason) for r in made.dropped] == [
        ("reference", "http://a.example/", "clone"),
        ("article", None, "no_documents"),
        ("reference", "http://b.example/", "not_in_crawl"),
        ("reference", "http://z.example/", "not_in_crawl"),
    ]
    assert made.counts["dropped_reference_not_in_crawl"] == 2
    assert made.counts["references_in"] == 1


def test_a_row_of_no_article_is_an_outcome_too():
    row = missing_page(WantedUrl("http://a.example/", "1", "search", 0), [])
    outcome = dropped_outcome(row)
    assert (outcome.article, outcome.example, outcome.dropped) == ("", None, [row])
    assert outcome.counts == {"dropped_reference_not_in_crawl": 1}


def test_a_document_with_few_words_is_no_source():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", GREEN)),
        WantedDocument("citation", 1, document("http://b.example/", SHEEP, NOON)),
        min_document_words=20,
    )
    assert [d.url for d in made.example.documents] == ["http://b.example/"]
    assert [(r.kind, r.reason) for r in made.dropped] == [("reference", "short_document")]
    assert made.counts["paragraphs_short_document"] == 1


def test_a_recurring_paragraph_is_a_dropped_row():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", GREEN, SHEEP)),
        WantedDocument("citation", 1, document("http://b.example/", GREEN)),
        recurring=frozenset({text_key(GREEN)}),
    )
    assert [(r.kind, r.reason, r.url, r.detail) for r in made.dropped[:2]] == [
        ("paragraph", "recurring_line", "http://a.example/", GREEN),
        ("paragraph", "recurring_line", "http://b.example/", GREEN),
    ]
    assert [(r.kind, r.reason) for r in made.dropped[2:]] == [("reference", "no_paragraphs")]
    assert [p.text for p in made.example.paragraphs] == [SHEEP]
    assert made.counts["paragraphs_recurring_line"] == 2


def test_recurring_paragraphs_do_not_count_as_words_of_the_document():
    made = make(
        WantedDocument("citation", 0, document("http://a.example/", GREEN, SHEEP)),
        recurring=frozenset({text_key(GREEN)}),
        min_document_words=20,
    )
    assert [r.reason for r in made.dropped if r.kind == "reference"] == ["short_document"]


def test_a_paragraph_that_a_better_one_repeats_is_left_out():
    nearly = NOON.replace("on most days", "on all days")
    found = WantedDocument("citation", 0, document("http://a.example/", NOON, nearly, SHEEP))
    made = make(found)
    assert [p.text for p in made.example.paragraphs] == [NOON, SHEEP]
    assert [(r.kind, r.reason, r.url, r.detail) for r in made.dropped] == [
        ("paragraph", "near_duplicate", "http://a.example/", nearly)
    ]
    assert made.counts["paragraphs_near_duplicate"] == 1
    assert made.counts["paragraphs_cut"] == 0
    assert len(make(found, near_duplicate_threshold=1.0).example.paragraphs) == 3


@given(st.text(st.characters(max_codepoint=0x17F)))
def test_the_terms_of_a_paragraph_are_the_words_of_rouge_where_it_is_ascii(text):
    for each in (text, ascii(text)):
        pooled = _Pooled(each, tuple(terms(each)), 0, 0, 0)
        assert list(pooled.rouge_words) == rouge_tokens(each)
