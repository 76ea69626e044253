import pytest

from tests.builders import LEAD, article, document
from wikisum.pipeline.examples.make_example import Found, make_example
from wikisum.pipeline.options import LIKE_T2T, ExampleSettings

GREEN = "The Tavin bridge was painted green by twelve men in one summer."
SHEEP = "Sheep were driven over the river at low water before that time."
NOON = "A ferry crossed the Tavin at noon and again at dusk on most days."


def make(*found: Found, **settings):
    return make_example(article(), list(found), ExampleSettings(**settings))


def test_best_paragraphs_first_with_their_place_and_label():
    made = make(
        Found("search", 0, document("http://s.example/", SHEEP, NOON)),
        Found("citation", 1, document("http://c.example/", GREEN)),
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
        Found("citation", 0, document(**changes)),
        Found("citation", 1, document("http://b.example/", SHEEP)),
        language="en",
    )
    (row,) = made.dropped
    assert (row.kind, row.url, row.reason) == ("reference", "http://a.example/", reason)
    assert row.detail.startswith("citation 0, clone_score=")
    assert made.counts[f"dropped_reference_{reason}"] == 1
    assert len(made.example.documents) == 1


def test_another_threshold_keeps_the_clone_and_its_score():
    made = make(Found("citation", 0, document("http://a.example/", LEAD, SHEEP)), clone_threshold=1)
    assert made.example.documents[0].clone_score == 1.0
    assert [p.text for p in made.example.paragraphs] == [SHEEP]  # the lead itself is no paragraph
    assert made.counts["paragraphs_clone"] == 1


def test_an_article_without_documents_is_dropped_and_so_are_its_paragraphs():
    made = make(Found("citation", 0, document("http://a.example/", LEAD)))
    assert made.example is None
    assert [(r.kind, r.reason) for r in made.dropped] == [
        ("reference", "clone"),
        ("article", "no_documents"),
    ]


def test_a_paragraph_stands_once():
    made = make(
        Found("citation", 0, document("http://a.example/", GREEN)),
        Found("citation", 1, document("http://b.example/", GREEN.upper(), SHEEP)),
        Found("citation", 2, document("http://c.example/", GREEN)),
    )
    assert made.counts["paragraphs_duplicate"] == 2
    assert [(r.url, r.reason) for r in made.dropped] == [("http://c.example/", "no_paragraphs")]


def test_cuts_are_counted():
    found = Found("citation", 0, document("http://a.example/", GREEN, SHEEP, NOON))
    assert make(found, max_paragraphs=1).counts["paragraphs_cut"] == 2
    assert len(make(found, max_words=26).example.paragraphs) == 2


def test_required_citations():
    made = make(Found("search", 0, document()), require_citation=True)
    assert [r.reason for r in made.dropped] == ["no_citation", "no_citation"]
    assert made.counts["paragraphs_article_dropped"] == 1


def test_the_text_of_the_original_dataset():
    made = make_example(
        article(),
        [
            Found("reference", 0, document("http://a.example/", GREEN, NOON, language="de")),
            Found("search", 0, document("http://b.example/", GREEN, LEAD)),
        ],
        LIKE_T2T.examples,
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


def test_references_stand_between_citations_and_search_results():
    made = make(
        Found("search", 0, document("http://s.example/", SHEEP)),
        Found("reference", 0, document("http://r.example/", NOON)),
        Found("citation", 0, document("http://c.example/", GREEN)),
    )
    assert [d.source for d in made.example.documents] == ["citation", "reference", "search"]
    sizes = made.sizes
    assert sizes.citation_words == len(GREEN.split())
    assert sizes.reference_words == len(NOON.split())
    assert make(Found("reference", 0, document()), require_citation=True).example
    assert not make(Found("search", 0, document()), require_citation=True).example
