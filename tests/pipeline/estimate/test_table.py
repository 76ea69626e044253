import json

import pytest

from tests.pipeline.estimate.test_estimate import CRAWL, cost, found
from wikisum.pipeline.estimate.estimate import Estimate, estimate
from wikisum.pipeline.estimate.table import _size, as_plain, estimate_lines
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.setting import Settings


def lines(estimated: Estimate, workers: int = 1, per_second: float = 0.0) -> list[str]:
    return list(estimate_lines(estimated, workers, per_second))


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (1, "1 B"),
        (999.4, "999 B"),
        (999.5, "1 kB"),
        (1234, "1.23 kB"),
        (999_499, "999 kB"),
        (1e6, "1 MB"),
        (2.5e9, "2.5 GB"),
        (1e12, "1 TB"),
        (4e15, "4e+03 TB"),
    ],
)
def test_sizes(count, text):
    assert _size(count) == text


def test_volumes_come_first():
    assert lines(found())[:4] == [
        "articles  200, estimated from 20",
        "wanted    1,000 pages",
        "found     600 of them by 12 in 120 records of the crawl; 150 with text",
        "examples  106",
    ]


def test_it_says_what_the_found_pages_are_estimated_from():
    (line,) = (x for x in lines(found(CRAWL._replace(matches=9))) if x.startswith("found"))
    assert "by the assumed coverage" in line
    (line,) = (x for x in lines(found(crawl=None)) if x.startswith("found"))
    assert line == "found     0 of them; 0 with text"


def test_columns_are_aligned_and_empty_cells_stay_empty():
    result = lines(found())
    (head,) = (x for x in result if x.startswith("stage"))
    (scan,) = (x for x in result if x.startswith("scan"))
    assert len(head) == len(scan) == 9 + 6 * 11
    assert scan[9:20].strip() == "50 kB"
    assert scan[20:31].strip() == ""  # no requests


def test_requests_of_a_crawl_take_their_time():
    settings = Settings(LocateSettings(crawls=("CC-MAIN-2024-10",)))
    estimated = found(crawl=None, settings=settings)
    assert estimated.total.requests == pytest.approx(1_400, rel=1e-3)
    assert "      2:20 at 10 requests per second" in lines(estimated, 1, 10)
    assert not any("per second" in line for line in lines(estimated, 1, 0))
    assert not any("requests per second" in line for line in lines(found(), 1, 10))


def test_requests_to_the_web_are_no_requests_to_the_crawl():
    from tests.pipeline.estimate.test_estimate import ARTICLES, ASSUMED, PRICES, RATES
    from wikisum.pipeline.live.settings import LiveSettings

    live = estimate(ARTICLES, CRAWL, None, Settings(), RATES, ASSUMED, PRICES, LiveSettings())
    result = lines(live, 1, 10)
    assert cost(live, "live").requests > 0
    assert not any("requests per second" in line for line in result)
    assert any(line.endswith("one page per host at a time") for line in result)
    assert "web       400 pages to request, of which 200 are assumed to be there still" in result
    assert not any(line.startswith("web") for line in lines(found()))


def test_time_is_divided_by_the_cores():
    slow = found()._replace(total=found().total._replace(cpu_seconds=7200.0))
    assert "time: 1:00:00 on 2 cores" in lines(slow, 2)


def test_every_figure_is_listed_in_lines_of_at_most_100_characters():
    result = lines(found())
    assert max(map(len, result)) <= 100
    text = " ".join(line.strip() for line in result)
    assert "coverage 0.4," in text
    assert "crawl_pages 2,500,000,000," in text


def test_plain_values_are_json_and_hold_the_whole_estimate():
    plain = json.loads(json.dumps(as_plain(found())))
    assert plain["crawl_sample"]["pages"]["chars"] == 200_000
    assert plain["total"]["stage"] == "total"
    assert [c["stage"] for c in plain["stages"]] == [c.stage for c in found().stages]
    assert as_plain(found(crawl=None))["crawl_sample"] is None
