from collections import Counter

import pytest

from tests.builders import LEAD
from wikisum.crawl.warc.warc import PageRecord, Rejection
from wikisum.pipeline.pages.document import drop_record, make_document
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Document, Dropped

PAGE = PageRecord(
    "https://www.a.example/x", 200, "text/plain", "utf-8", b"", "text", 5, 10, "D", "T"
)


def made(text: str, counts: Counter | None = None, **settings: object) -> Document | Dropped:
    item = PAGE._replace(payload=text.encode())
    found = Counter() if counts is None else counts
    return make_document(item, "f.warc", "scan", PageSettings(**settings), found)


def test_a_page_by_hand():
    counts: Counter[str] = Counter()
    document = made(f"{LEAD}\nToo short.\n{LEAD}", counts)
    assert isinstance(document, Document)
    assert document.paragraphs == [LEAD, LEAD]
    assert counts == {"paragraphs_kept": 2, "paragraphs_too_short": 1}
    assert (document.url, document.source_url) == ("http://a.example/x", PAGE.url)
    place = document.warc_file, document.offset, document.length
    assert (*place, document.digest, document.fetched_at) == ("f.warc", 5, 10, "D", "T")


def test_a_page_without_prose_is_dropped_with_the_number_of_its_paragraphs():
    counts: Counter[str] = Counter()
    row = made("Too short.\nThis too.", counts)
    assert row == Dropped(
        "record", None, "http://a.example/x", "scan", "no_text", "f.warc", 5,
        "none of 2 paragraphs was kept",
    )  # fmt: skip
    assert counts == {"paragraphs_too_short": 2}


def test_long_paragraphs_are_split_but_not_under_the_rule_of_the_original():
    long = " ".join([LEAD] * 40)
    assert len(made(long).paragraphs) > 1
    assert len(made(long, paragraph_rule="t2t").paragraphs) == 1


def test_the_language_decides_which_paragraphs_stay():
    assert isinstance(made(LEAD, language="en"), Document)
    counts: Counter[str] = Counter()
    assert made(LEAD, counts, language="ru").reason == "other_language"
    assert counts == {"paragraphs_other_language": 1}
    assert made(f"Menu\n{LEAD}", language="ru").reason == "other_language"
    assert made("Menu\nNothing else", language="ru").reason == "no_text"
    assert made(f"{LEAD}\nЭто короткая строка на русском языке.", language="en").paragraphs == [
        LEAD
    ]


def test_a_rejected_record_keeps_its_reason():
    rejected = Rejection("http://a.example/", "http_status", 7, "status 404")
    row = make_document(rejected, "f", "fetch", PageSettings(), Counter())
    assert row == Dropped(
        "record", None, "http://a.example/", "fetch", "http_status", "f", 7, "status 404"
    )


@pytest.mark.parametrize(
    ("url", "canonical", "detail"),
    [
        ("https://www.a.example", "http://a.example/", "why"),
        ("no address", None, "no address: why"),
        (None, None, "why"),
        ("", None, "why"),
    ],
)
def test_a_url_without_canonical_form_moves_to_the_detail(url, canonical, detail):
    row = drop_record(url, "reason", "scan", "f", 1, "why")
    assert (row.url, row.detail) == (canonical, detail)


def test_furniture_of_plain_text_is_dropped_and_counted_but_not_of_html():
    menu = [f"Section {i}" for i in range(40)]
    story = [f"{LEAD} It stands on {i} pillars." for i in range(6)]
    teaser = "You are no longer onsite at your organization. Please log in."
    lines = ["The bridge", *menu, *story, *menu, teaser, *menu]
    counts: Counter[str] = Counter()
    assert made("\n".join(lines), counts).paragraphs == story
    assert counts["paragraphs_furniture"] == 1
    assert teaser in made("\n".join(lines), paragraph_rule="t2t").paragraphs
    html = PAGE._replace(payload=f"<p>{'<p>'.join(lines)}".encode(), kind="html")
    document = make_document(html, "f.warc", "scan", PageSettings(extractor="soup"), Counter())
    assert document.paragraphs == [*story, teaser]


def test_lines_glued_together_are_judged_one_by_one_and_broken_sentences_are_cut():
    menu = "Read moreContact us19"
    document = made(f"{LEAD}{menu}{LEAD.rstrip('.')}. In cooperation with the Army the")
    assert document.paragraphs == [LEAD, LEAD]
    assert made(f"{LEAD}{LEAD}{LEAD}").paragraphs == [f"{LEAD} {LEAD} {LEAD}"]
    whole = made(f"{LEAD} In cooperation with the Army the", paragraph_rule="t2t")
    assert whole.paragraphs[0].endswith("Army the")
