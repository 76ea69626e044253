import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.clones import article_shingles, clone_score, lead_bigrams, paragraph_clone_score
from wikisum.crawl.tokens import terms

LEAD = " ".join(f"word{i}" for i in range(40))
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60).map(" ".join)


def score(paragraphs, article):
    return clone_score(map(terms, paragraphs), article)


def test_literal_rule_by_hand():
    article = article_shingles("a b c d", ["a x", ""], "literal")
    assert score(["a b"], article) == 0.5
    assert score(["x", "a"], article) == 1.0
    assert score(["nothing of it"], article) == 0.0


def test_calibrated_rule_counts_pairs_of_neighbors():
    article = article_shingles(LEAD, [])
    assert score([LEAD], article) == 1.0
    assert score([" ".join(reversed(LEAD.split()))], article) == 0.0
    half = " ".join(LEAD.split()[:20])
    assert score([half], article) == pytest.approx(19 / 39)


def test_short_sections_count_together():
    sections = [" ".join(f"s{n}w{i}" for i in range(12)) for n in range(4)]
    article = article_shingles(LEAD, sections)
    assert sorted(article.sizes) == [39, 44]
    assert score(sections[:2], article) == 0.5


@pytest.mark.parametrize(
    ("words", "size"),
    [
        (31, 30),  # counts alone
        (30, 30),  # counts with the short section: 29 shingles and 1
    ],
)
def test_a_section_counts_alone_from_30_shingles_on(words, size):
    section = " ".join(f"s{i}" for i in range(words))
    assert sorted(article_shingles(LEAD, [section, "too short"]).sizes) == [size, 39]


def test_short_sections_count_together_from_30_shingles_on():
    for words, sizes in ((16, [30, 39]), (15, [39])):
        sections = [" ".join(f"s{n}w{i}" for i in range(words)) for n in range(2)]
        assert sorted(article_shingles(LEAD, sections).sizes) == sizes


def test_an_article_of_short_sections_still_has_a_score():
    assert score(["one two three"], article_shingles("one two three", [])) == 1.0


def test_unknown_rule_is_named():
    with pytest.raises(ValueError, match="'strict'"):
        article_shingles("a", [], "strict")


@given(WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=4), WORDS)
def test_more_text_never_lowers_the_score(lead, sections, page, more):
    """By the literal rule; the calibrated one weighs how much of the page is of the article."""
    literal, calibrated = (article_shingles(lead, sections, r) for r in ("literal", "calibrated"))
    assert 0 <= score(page, literal) <= score([*page, more], literal) <= 1
    assert 0 <= score([*page, more], calibrated) <= 1


def test_paragraph_rule_by_hand():
    bigrams = lead_bigrams("a b c d e f")
    assert paragraph_clone_score(["x", "a", "b", "c", "d", "e", "f", "y"], bigrams) == 1.0
    assert paragraph_clone_score(["a", "b", "c", "d", "e"], bigrams) == pytest.approx(0.8)
    assert paragraph_clone_score(["a", "b"], bigrams) == pytest.approx(0.2)
    assert paragraph_clone_score(["a", "c", "b"], bigrams) == 0.0
    assert paragraph_clone_score(["a"], lead_bigrams("a")) == 0.0


def test_terms_fold_case_and_width():
    assert terms("Don't STOP — Ｆｕｌｌ 42nd_x") == ["don", "t", "stop", "full", "42nd", "x"]


def page_of(paragraph: str, others: int) -> list[str]:
    """A page with that paragraph and other ones of forty words."""
    return [paragraph, *(" ".join(f"p{n}w{i}" for i in range(40)) for n in range(others))]


def test_a_page_that_quotes_one_paragraph_is_no_copy():
    section = " ".join(f"s{i}" for i in range(40))
    article = article_shingles(LEAD, [section])
    assert score(page_of(section, 4), article) == 1.0
    assert score(page_of(section, 39), article) == pytest.approx(1 / 40 / 0.06)
    assert score(page_of(section, 99), article) == pytest.approx(1 / 100 / 0.06)


def test_several_copied_paragraphs_make_a_copy_of_a_page_of_any_length():
    words = [f"s{i}" for i in range(40)]
    article = article_shingles(LEAD, [" ".join(words)])
    first, second = " ".join(words[:20]), " ".join(words[20:])
    assert score([first, *page_of(second, 99)], article) == pytest.approx(38 / 39)


def test_two_copied_sections_make_a_copy_of_a_page_of_any_length():
    section = " ".join(f"s{i}" for i in range(40))
    article = article_shingles(LEAD, [section])
    assert score([LEAD, *page_of(section, 40)], article) == 1.0


def test_the_literal_rule_does_not_weigh_the_page():
    assert score(page_of("a b c", 40), article_shingles("a b c", [], "literal")) == 1.0
