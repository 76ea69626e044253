import pytest

from wikisum.crawl.html import EXTRACTORS
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.estimate.estimate import HTML_SPEED, StageCost, dollars, estimate, total
from wikisum.pipeline.estimate.rates import Assumptions, Prices, Rates
from wikisum.pipeline.estimate.volumes import (
    ArticleSample,
    CrawlSample,
    PageSample,
)
from wikisum.pipeline.examples.settings import GraphSettings, VocabSettings
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.settings import WantedSettings

RATES, ASSUMED, PRICES = Rates(stage_seconds=1.0), Assumptions(), Prices()
# a tenth of the articles was read, and a fifth of the crawl
ARTICLES = ArticleSample(1_000, 10_000, 10_000, 20, 28_000, 40_000, 60, 40, False)
PAGES = PageSample(100, 100, 1_800_000, 50, 25, 500, 200_000)
CRAWL = CrawlSample(2, 0, 10_000, 50_000, 120, 12, PAGES)


def found(crawl=CRAWL, most=None, settings=None, articles=ARTICLES):
    return estimate(articles, crawl, most, settings or Settings(), RATES, ASSUMED, PRICES)


def cost(estimated, stage: str) -> StageCost:
    return next(c for c in estimated.stages if c.stage == stage)


def test_stages_by_hand():
    estimated = found()
    assert [c.stage for c in estimated.stages] == [
        "articles", "wanted", "scan", "examples", "graphs", "vocab", "tokenize", "report",
    ]  # fmt: skip
    articles = cost(estimated, "articles")
    assert articles.read_bytes == 10_000
    assert articles.cpu_seconds == pytest.approx(2 + 10_000 / 2.7e6 + 280_000 / 1.2e6 + 200 / 770)
    assert articles.output_bytes == pytest.approx(0.9 * 400_000)
    scan = cost(estimated, "scan")
    assert scan.read_bytes == 50_000
    seconds = 50_000 / 70e6 + 600 / 50e3 + 600 * 18_000 / RATES.fast_bytes
    assert scan.cpu_seconds == pytest.approx(1 + seconds)
    assert estimated.total == total(estimated.stages)
    assert estimated.total.requests == 0


def test_a_slice_reads_less_and_a_list_of_titles_does_not():
    limited = found(most=50, settings=Settings(ArticleSettings(limit=50)))
    titles = found(most=50)
    assert limited.volumes.articles == titles.volumes.articles == 50
    assert limited.volumes.wanted == 250
    assert cost(limited, "articles").read_bytes == 2_500
    assert cost(titles, "articles").read_bytes == 10_000
    assert found(most=10**6).volumes == found().volumes


def test_text_records_are_extracted_at_their_own_speed():
    half = CRAWL._replace(pages=PAGES._replace(html=50))
    html, mixed = (cost(found(crawl), "scan").cpu_seconds for crawl in (CRAWL, half))
    size_bytes = 600 * 18_000
    difference = size_bytes / 2 * (1 / RATES.fast_bytes - 1 / RATES.text_bytes) - RATES.text_seconds
    assert html - mixed == pytest.approx(difference)


def test_lines_of_text_and_what_is_kept_of_it_cost_time_of_their_own():
    half = CRAWL._replace(pages=PAGES._replace(html=50))
    lines = half._replace(pages=half.pages._replace(text_lines=200))
    kept = half._replace(pages=half.pages._replace(text_chars=3_000))
    plain, judged, cleaned = (cost(found(c), "scan").cpu_seconds for c in (half, lines, kept))
    assert judged - plain == pytest.approx(600 * 2 / RATES.text_lines)
    assert cleaned - plain == pytest.approx(600 * 30 / RATES.text_chars)


def test_examples_hold_articles_paragraphs_and_documents():
    volume = found().volumes
    articles = volume.packed_bytes * volume.examples / volume.articles * RATES.article_share
    paragraphs = volume.kept_chars * RATES.example_char_bytes
    documents = volume.used * RATES.example_document_bytes
    assert min(articles, paragraphs, documents) > 0
    output = cost(found(), "tokenize").output_bytes
    assert output == pytest.approx(articles + paragraphs + documents)


def test_time_for_paragraphs_articles_and_wanted_pages():
    volume = found().volumes
    copied_bytes = volume.packed_bytes * volume.examples / volume.articles
    seconds = volume.kept_chars / RATES.encoded_chars + copied_bytes / RATES.copied_bytes
    assert cost(found(), "tokenize").cpu_seconds == pytest.approx(0.8 + seconds)
    seconds = volume.kept_chars / RATES.reported_chars + 1_000 / RATES.reported_pages
    assert cost(found(), "report").cpu_seconds == pytest.approx(1.3 + seconds)


def test_corpora():
    def wanted(corpus):
        return found(settings=Settings(WantedSettings(corpus))).volumes.wanted

    assert (wanted("citations"), wanted("search"), wanted("combined")) == (600, 400, 1_000)


def test_without_matches_the_coverage_is_assumed_for_the_files_part_of_a_crawl():
    few = CRAWL._replace(matches=9, total_bytes=5e9, records=100)
    records = 100 * 5e9 / 10_000
    assert found(few).volumes.found == pytest.approx(1_000 * 0.4 * records / 2.5e9)


def test_a_crawl_is_looked_up_and_fetched():
    crawl = Settings(LocateSettings(crawls=("CC-MAIN-2024-10",)))
    estimated = found(crawl=None, settings=crawl)
    locate, fetch = cost(estimated, "locate"), cost(estimated, "fetch")
    assert locate.requests == pytest.approx(1_000, rel=1e-3)  # hardly two pages in one block
    assert locate.read_bytes == pytest.approx(1_000 * 250e3, rel=1e-3)
    assert fetch.requests == 400
    assert fetch.read_bytes == 400 * 30e3
    assert estimated.total.requests == locate.requests + fetch.requests
    many = ARTICLES._replace(cited=90_000_000)
    blocks = cost(found(crawl=None, settings=crawl, articles=many), "locate").requests
    assert blocks == pytest.approx(0.9e6)  # no block twice
    both = found(settings=crawl)
    assert cost(both, "scan").output_bytes == 0  # its pages are counted once


def test_the_web_is_asked_for_what_the_crawl_has_not():
    """1,000 wanted of 200 articles, 600 in the crawl; of 20 articles' pages 3 are one host's."""
    busy = ARTICLES._replace(busiest_host=3)
    live = LiveSettings(concurrency=4, delay_seconds=9.0)
    estimated = estimate(busy, CRAWL, None, Settings(), RATES, ASSUMED, PRICES, live)
    volume, before = estimated.volumes, found().volumes
    assert (volume.found, volume.asked_live, volume.found_live) == (600, 400, 200)
    assert volume.documents == before.documents * 800 / 600
    asked, scanned = cost(estimated, "live"), cost(estimated, "live-scan")
    assert (asked.requests, asked.read_bytes) == (600, 200 * 30e3)
    assert scanned.output_bytes == pytest.approx(cost(estimated, "scan").output_bytes / 3)
    assert cost(estimated, "scan").output_bytes == pytest.approx(cost(found(), "scan").output_bytes)
    assert estimated.live_seconds == 3 * 10 * 0.4 * 1.5 * (9 + 1)  # over 600 / 4
    at_once = LiveSettings(concurrency=4, delay_seconds=0.0)
    assert estimate(busy, CRAWL, None, Settings(), RATES, ASSUMED, PRICES, at_once)[4] == 150
    short = LiveSettings(max_seconds=7.0)
    assert estimate(busy, CRAWL, None, Settings(), RATES, ASSUMED, PRICES, short).live_seconds == 7
    alone = estimate(busy, None, None, Settings(), RATES, ASSUMED, PRICES, live)
    assert (alone.volumes.found, alone.volumes.asked_live) == (0, 1_000)
    assert [c.stage for c in alone.stages][2:5] == ["live", "live-scan", "examples"]
    assert found().live_seconds == 0


def test_other_settings():
    soup = found(settings=Settings(PageSettings(extractor="soup")))
    assert cost(soup, "scan").cpu_seconds > 2 * cost(found(), "scan").cpu_seconds
    for given in ({"graph_paragraphs": 10}, {"entity_paragraphs": 10}, {"entities": "none"}):
        linked = found(settings=Settings(GraphSettings(**given)))
        assert cost(linked, "graphs").cpu_seconds < cost(found(), "graphs").cpu_seconds
    volume = found().volumes
    for entities, speed in (("fast", RATES.fast_chars), ("spacy", RATES.spacy_chars)):
        linked = found(settings=Settings(GraphSettings(entities=entities)))
        seconds = volume.linked_chars / RATES.similar_chars + volume.entity_chars / speed
        expected = 1 + RATES.model_seconds + RATES.similar_seconds + seconds
        assert cost(linked, "graphs").cpu_seconds == pytest.approx(expected)
    none = found(settings=Settings(GraphSettings(graphs="none")))
    assert cost(none, "graphs").cpu_seconds == 1
    given = found(settings=Settings(VocabSettings(vocab="x.model")))
    assert cost(given, "vocab").cpu_seconds == 0.8
    original = found(articles=ARTICLES._replace(is_original=True))
    assert cost(original, "articles").cpu_seconds == pytest.approx(2 + 10_000 / 15e6)


def test_empty_samples_divide_by_nothing():
    nothing = ArticleSample(0, 10, 10, 0, 0, 0, 0, 0, False)
    none = PageSample(0, 0, 0, 0, 0, 0, 0)
    assert found(CrawlSample(1, 0, 0, 100, 0, 0, none), articles=nothing).volumes.examples == 0
    no_text = PAGES._replace(documents=0, own_language=0, paragraphs=0, chars=0)
    assert found(CRAWL._replace(pages=no_text)).volumes.kept_chars == 0


def test_dollars_by_hand():
    whole = StageCost("total", 1e9, 2e6, 7200.0, 3e9, 5e9)
    paid = dollars(whole, Prices(0.1, 0.01, 0.02, 0.4, 0.05))
    assert paid == pytest.approx(
        {
            "computing": 0.2, "shuffle": 0.03, "reading": 0.05, "requests": 0.8, "storage": 0.1,
            "total": 1.18,
        }
    )  # fmt: skip


def test_every_extractor_has_a_speed():
    assert set(HTML_SPEED) == set(EXTRACTORS)
    assert all(speed(RATES) > 0 for speed in HTML_SPEED.values())
