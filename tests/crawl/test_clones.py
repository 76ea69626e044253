import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.clones import article_shingles, clone_score, lead_bigrams, paragraph_clone_score
from wikisum.crawl.tokens import terms

LEAD = " ".join(f"word{i}" for i in range(40))
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=60).map(" ".join)


def score(paragraphs, article):
    return clone_score([terms(paragraph) for paragraph in paragraphs], article)


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


@pytest.mark.slow
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


def text(name: str, words: int = 40) -> str:
    """A paragraph of words that no other name has."""
    return " ".join(f"{name}{i}" for i in range(words))


def page_of(paragraphs: list[str], others: int) -> list[str]:
    """A page with those paragraphs and other ones of forty words."""
    return [*paragraphs, *(text(f"p{n}w") for n in range(others))]


LONG_ARTICLE = article_shingles(
    LEAD, [text("a") + "\n" + text("b"), *map(text, "cd"), text("long", 400)]
)


def test_a_page_that_quotes_one_paragraph_is_no_copy():
    """The weight is the share of the page over 0.3, or that of the article over 0.5 if greater."""
    article_share = 39 / (5 * 39 + 1 + 399)
    for others, weight in ((2, 1.0), (3, 1 / 4 / 0.3), (6, 1 / 7 / 0.3), (99, article_share / 0.5)):
        assert score(page_of([text("c")], others), LONG_ARTICLE) == pytest.approx(weight)


def test_the_only_paragraph_of_an_article_is_a_copy_in_a_page_of_any_length():
    assert score(page_of([text("c")], 99), article_shingles(text("c"), [])) == 1.0


def test_a_paragraph_that_is_half_of_the_article_is_a_copy_in_a_page_of_any_length():
    article = article_shingles(LEAD, [text("c", 80)])
    assert score(page_of([text("c", 80)], 99), article) == 1.0


def test_two_copied_paragraphs_make_a_copy_of_a_page_of_any_length():
    page = page_of([text("a"), text("b")], 99)
    assert score(page, LONG_ARTICLE) == pytest.approx(78 / 79)  # the pair between them is missing
    assert score(page_of([LEAD, text("d")], 99), LONG_ARTICLE) == 1.0


def test_a_page_split_into_pieces_still_quotes_one_paragraph():
    words = text("c").split()
    page = page_of([" ".join(words[:20]), " ".join(words[20:])], 99)
    assert score(page, LONG_ARTICLE) == pytest.approx(38 / 39 * 38 / 595 / 0.5)


def test_a_list_of_short_lines_counts_as_one_paragraph():
    """A page that has the lead as well is a copy, though no line of the list is long."""
    lines = [text(f"line{n}w", 4) for n in range(20)]
    article = article_shingles(LEAD, ["\n".join(lines), text("long", 400)])
    assert score(page_of(lines, 99), article) == 0.0
    assert score(page_of([LEAD, *lines], 99), article) == 1.0


def test_a_long_page_that_holds_pairs_by_chance_is_no_copy():
    """Every pair of a section stands somewhere in the page, but never nine words in a row."""
    words = text("c").split()
    pieces = [" ".join(words[i : i + 4]) for i in range(0, 39, 3)]
    assert score([*page_of([], 99), *pieces], LONG_ARTICLE) == 0.0


def test_a_page_made_of_parts_of_sections_is_a_copy():
    """It holds under half of each section, but most of its words are runs of the article."""
    parts = [" ".join(p.split()[:19]) for p in (LEAD, text("a"), text("c"), text("d"))]
    assert score(parts, LONG_ARTICLE) == 1.0
    assert score([*parts, text("own", 76)], LONG_ARTICLE) == pytest.approx(0.5)
    assert score(parts[:1], LONG_ARTICLE) == pytest.approx(18 / 39)  # less than a section has


def test_a_paragraph_is_held_with_a_tenth_of_its_words_replaced():
    words = text("c").split()
    words[7] = words[30] = "other"
    assert score(page_of([" ".join(words), text("d")], 99), LONG_ARTICLE) == 1.0


def test_the_literal_rule_does_not_weigh_the_page():
    assert score(page_of(["a b c"], 40), article_shingles("a b c", [], "literal")) == 1.0
