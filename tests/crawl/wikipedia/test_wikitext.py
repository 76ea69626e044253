import re

import pytest

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages
from wikisum.crawl.wikipedia.mend import clean
from wikisum.crawl.wikipedia.strip import strip_plain
from wikisum.crawl.wikipedia.wikitext import (
    MAX_DEPTH,
    MAX_PARSED_CHARS,
    MAX_UNBALANCED,
    is_pathological,
    parse_article,
)

MARKUP = """{{Infobox x|name=A<ref>{{cite web|url=http://info.example/}}</ref>}}
{{About|the bridge}}
[[File:A.jpg|thumb|right|A [[caption]] <ref>http://caption.example</ref>]]
'''Tavin''' ({{IPA|x}}; {{lang|fr|pont}}) is a [[bridge|''bridge'']] of [[iron]]s,
{{convert|142|m|ft}} long.<ref name="a">{{cite web |url=http://www.One.example/x |title=T
|archive-url=https://web.archive.org/web/2012/http://www.One.example/x}}</ref><!-- no -->

It opened{{spaced ndash}}late.<ref name="a" /><ref>[http://two.example/ Two], text</ref>
* first item
* second item
{| class="wikitable"
| cell <ref>http://table.example/</ref>
|}

== History ==
Old.<ref>{{cite book|url=ftp://bad.example/}}</ref>{{citation needed}}

=== Empty ===
== Works ==
{{cite news|archiveurl=https://web.archive.org/web/2001/http://three.example/}}

== References ==
{{reflist|refs=<ref name="z">http://four.example/</ref>}}

== External links ==
* [http://ext.example/ Site]
"""


def test_text_and_citations_of_a_page():
    article = parse_article("Tavin", MARKUP)
    assert article.lead.split("\n") == [
        "Tavin (pont) is a bridge of irons, 142 m long.",
        "It opened – late.",
        "first item",
        "second item",
    ]
    assert [(s.title, s.level, s.text) for s in article.sections] == [("History", 2, "Old.")]
    assert article.citations == [
        "http://info.example/",
        "http://caption.example/",
        "http://one.example/x",
        "http://two.example/",
        "http://table.example/",
        "http://three.example/",
        "http://four.example/",
    ]
    assert article.bad_citations == [("ftp://bad.example/", "not_http")]
    assert not article.fallback


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("#REDIRECT [[B]]", "redirect"),
        ("A may be:\n* [[B]]\n{{disambiguation}}", "disambiguation"),
        ("A may be:\n{{Hndis|A}}", "disambiguation"),
        ("{{Infobox}}\n== First ==\nText.", "no_lead"),
        ("", "no_lead"),
    ],
)
def test_pages_that_are_no_articles(markup, reason):
    with pytest.raises(BadArticle) as caught:
        parse_article("A", markup)
    assert caught.value.reason == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "tail",
    ["{{" * 50_000, "[[" * 50_000, "{|\n|\n" * 3000, "<ref>" * 20_000, "{{a|" * 5000 + "}}" * 5000],
)
def test_broken_pages_fall_back_to_plain_stripping(tail):
    assert is_pathological(tail)
    article = parse_article("A", "The '''lead''' of [[it|this]] page. " + tail)
    assert article.fallback
    assert article.lead.startswith("The lead of this page.")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x" * MAX_PARSED_CHARS, "x"),
        ("{{" * MAX_DEPTH + "}}" * MAX_DEPTH, "{{" * (MAX_DEPTH + 1) + "}}" * (MAX_DEPTH + 1)),
        ("}}" * MAX_UNBALANCED, "]]"),
        ("{{" * (MAX_DEPTH - 10) + "[[" * (MAX_UNBALANCED - MAX_DEPTH + 10), "{|"),
    ],
)
def test_markup_at_a_limit_is_parsed_and_markup_beyond_it_is_not(first, second):
    assert not is_pathological(first)
    assert is_pathological(first + second)


def test_balanced_markup_is_parsed_however_long_it_is():
    assert not is_pathological("{{a}} [[b]] {|\n|} <i>c</i> <br> " * 1000)


def test_plain_stripping_reads_sections_and_references():
    plain = strip_plain(MARKUP)
    assert [title for title, _, _ in plain.sections] == [
        "", "History", "Empty", "Works", "References", "External links",
    ]  # fmt: skip
    assert "bridge of irons" in plain.sections[0][2]
    assert "http://two.example/" in plain.cited


def test_mends_what_templates_leave():
    assert clean("A ( ; ) b , c ( , d)") == "A b, c (d)"


@pytest.mark.longest
@pytest.mark.slow
def test_hardly_any_markup_is_left_in_real_articles(real_data):
    marks = re.compile(r"\{\{|\}\}|\[\[|\]\]|'''|<ref|\|thumb")
    paragraphs = left = articles = 0
    for name in ("enwiki-dev.xml.bz2", "wikigen-dev.xml.bz2"):
        with (real_data / name).open("rb") as raw:
            for page in read_pages(open_dump(raw)):
                assert isinstance(page, Page)
                if page.redirect is not None:
                    continue
                try:
                    article = parse_article(page.title, page.text)
                except BadArticle:
                    continue
                articles += 1
                for text in [article.lead, *(s.text for s in article.sections)]:
                    lines = text.split("\n")
                    paragraphs += len(lines)
                    left += sum(bool(marks.search(line)) for line in lines)
    assert articles == 65 + 157
    assert left * 1000 <= paragraphs
