import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.estimate.test_estimate import ARTICLES, ASSUMED, CRAWL, PAGES
from wikisum.pipeline.estimate.rates import Assumptions
from wikisum.pipeline.estimate.volumes import (
    MIN_MATCHES,
    assumed_pages,
    found_pages,
    kept_chars,
    volumes,
)
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.setting import Settings


def test_volumes_by_hand():
    told_ = volumes(ARTICLES, None, CRAWL, Settings(), ASSUMED)
    assert told_.articles == 200
    assert told_.wanted == 1_000
    assert told_.crawl_records == 600
    assert told_.found == 600  # 12 matches x 5 x 10, which is 600, as many as there are records
    assert told_.documents == 300
    assert told_.used == 150
    assert told_.html_bytes == 600 * 18_000
    assert told_.chars == 300 * 4_000
    assert told_.examples == pytest.approx(200 * (1 - 2.718281828 ** -(150 / 200)))
    assert 0 < told_.kept_chars < 150 * 4_000


@given(st.floats(1, 1e9), st.floats(1, 1e6), st.integers(1, 500))
def test_kept_text_is_part_of_the_text_and_grows_with_the_limit(chars, examples, most):
    kept = kept_chars(chars, PAGES, examples, most)
    assert 0 <= kept <= chars
    assert kept <= kept_chars(chars, PAGES, examples, most + 1)
    assert kept <= examples * most * 400 * (1 + 1e-9)


def test_assumed_pages_by_hand():
    assumed = Assumptions(page_bytes=7, page_share=0.25, page_paragraphs=3, paragraph_chars=11)
    pages = assumed_pages(assumed)
    assert (pages.pages, pages.html, pages.bytes) == (100, 100, 700)
    assert (pages.documents, pages.own_language) == (25, 25)
    assert (pages.paragraphs, pages.chars) == (75, 825)


def test_found_pages_by_hand():
    """A tenth of the articles and a fifth of the 600 records were read."""
    assumed = Assumptions(coverage=0.5, crawl_pages=1_200)

    def found(**changes):
        return found_pages(ARTICLES, 200, 1_000, CRAWL._replace(**changes), assumed)

    assert found_pages(ARTICLES, 200, 1_000, None, assumed) == 500
    assert found(matches=MIN_MATCHES) == 10 * 5 * 10  # all files, all articles
    assert found(matches=MIN_MATCHES - 1) == 500 * 600 / 1_200  # half a crawl
    assert found(matches=0, records=600) == 500  # more than a crawl has the coverage of one
    assert found(matches=100) == 600  # no more than there are records
    assert found(matches=100, records=300) == 1_000  # no more than are wanted


def test_kept_chars_by_hand():
    """One example has 100 paragraphs of 400 characters."""
    assert kept_chars(40_000, PAGES, 1, 100) == pytest.approx(40_000 * (1 - 2.718281828**-1))
    assert kept_chars(0, PAGES, 1, 100) == kept_chars(40_000, PAGES, 0, 100) == 0


def test_a_crawl_without_files_has_the_assumed_share():
    settings = Settings(LocateSettings(crawls=("CC-MAIN-2024-10",)))
    assert volumes(ARTICLES, None, None, settings, ASSUMED).found == 1_000 * ASSUMED.coverage
    assert volumes(ARTICLES, None, None, Settings(), ASSUMED).found == 0


def test_html_and_text_are_the_two_parts_of_the_pages():
    mixed = CRAWL._replace(pages=PAGES._replace(html=25, text_lines=300, text_chars=500))
    found = volumes(ARTICLES, None, mixed, Settings(), ASSUMED)
    assert (found.html_bytes, found.text_bytes) == (600 * 4_500, 600 * 13_500)
    assert (found.text_lines, found.text_chars) == pytest.approx((600 * 3, 600 * 5))


def test_sums_of_the_sample_grow_with_the_articles():
    found = volumes(ARTICLES, 50, CRAWL, Settings(), ASSUMED)
    assert (found.markup_chars, found.packed_bytes) == (70_000, 100_000)
    assert found.input_bytes == 10_000
    assert (found.crawl_bytes, found.crawl_records) == (50_000, 600)


def test_the_web_is_asked_only_if_it_is_live():
    live = volumes(ARTICLES, None, CRAWL, Settings(), ASSUMED, is_live=True)
    assert (live.asked_live, live.found_live) == (400, 200)
    offline = volumes(ARTICLES, None, CRAWL, Settings(), ASSUMED)
    assert (offline.asked_live, offline.found_live) == (0, 0)
