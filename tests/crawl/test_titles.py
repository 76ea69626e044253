from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.titles import article_id, normalize_title, split_of


@pytest.mark.parametrize(
    ("title", "normal"),
    [
        ("iPhone_4S", "IPhone 4S"),
        (":Category x", "Category x"),
        ("  a __b#History ", "A b"),
        ("AT&amp;T", "AT&T"),
        ("e\u0301tude", "\u00c9tude"),
        ("\u00dfharp", "\u00dfharp"),
    ],
)
def test_as_mediawiki(title, normal):
    assert normalize_title(title) == normal


@given(st.text(st.characters(exclude_characters="&")))
def test_idempotent(title):
    once = normalize_title(title)
    assert normalize_title(once) == once


def test_id_is_of_the_normal_title():
    assert article_id("tavin_Bridge") == article_id("Tavin Bridge")
    assert len(article_id("x")) == 16


def test_splits_follow_the_fractions():
    counts = Counter(split_of(f"Title {i}") for i in range(5000))
    assert counts["train"] == pytest.approx(4000, rel=0.03)
    assert counts["validation"] == pytest.approx(500, rel=0.15)
    assert split_of("tavin_Bridge") == split_of("Tavin Bridge")
    assert {split_of(f"T{i}", (0.0, 1.0, 0.0)) for i in range(50)} == {"validation"}
