import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.pipeline.recurring.lines import (
    PageLines,
    RecurringLine,
    recurring_lines,
    site_key,
    text_key,
)


def page(number: int, *lines: int, site: int = 1, articles: tuple[int, ...] = ()) -> PageLines:
    return PageLines(number, site, list(articles or (number,)), list(lines))


def test_a_line_recurs_if_a_site_has_it_on_pages_of_enough_articles():
    pages = [page(n, 7, 100 + n) for n in range(3)]
    assert recurring_lines(pages, 3) == [RecurringLine(7, 3, 3)]
    assert recurring_lines(pages, 4) == []


def test_a_page_that_several_articles_want_is_one_page():
    assert recurring_lines([page(1, 7, articles=(1, 2, 3, 4))], 3) == []


def test_several_captures_of_a_page_are_one_page():
    assert recurring_lines([page(1, 7, 7), page(1, 7), page(2, 7)], 3) == []


def test_pages_of_one_article_are_not_enough():
    assert recurring_lines([page(n, 7, articles=(1,)) for n in range(5)], 3) == []


def test_a_story_that_several_sites_share_is_kept_unless_very_many_do():
    pages = [page(n, 7, site=n) for n in range(9)]
    assert recurring_lines(pages[:8], 3) == []
    assert recurring_lines(pages, 3) == [RecurringLine(7, 9, 9)]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(0, 1), st.sets(st.integers(0, 3)), st.integers(0, 3)
        ),
        max_size=20,
    ),
    st.randoms(),
)
def test_the_order_of_the_pages_does_not_matter(rows, random):
    pages = [PageLines(p, p % 2, [a], sorted(lines)) for p, _, lines, a in rows]
    shuffled = list(pages)
    random.shuffle(shuffled)
    found = recurring_lines(pages, 2)
    assert found == recurring_lines(shuffled, 2)
    for line in found:
        on = {p.page for p in pages if line.line in p.lines}
        assert line.pages == len(on) >= 2


def test_keys_are_those_of_the_text_and_of_the_host():
    assert text_key("All rights reserved.") != text_key("All rights reserved")
    assert -(1 << 63) <= text_key("a\ud800") < 1 << 63
    assert site_key("http://www.a.example/x") == site_key("https://a.example/y")
    assert site_key("http://a.example/") != site_key("http://b.example/")
