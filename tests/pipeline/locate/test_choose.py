import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from tests.pipeline.locate.test_best_capture import found, lost
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.locate.choose import WINDOW_BYTES, ChooseCaptures, LocatePages
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.locate.stage import LOCATE

SETTINGS = LocateSettings(("NEW", "OLD"))
URLS = [f"http://{i}.example/" for i in range(30)]


@pytest.mark.slow
def test_every_url_gets_its_captures_or_a_dropped_row():
    results = [
        *(found(1, filename="old")._replace(url=url) for url in URLS[:20]),
        *(found(0, filename="new")._replace(url=url) for url in URLS[:10]),
        *(lost("http_status_404", 1)._replace(url=url) for url in URLS[20:25]),
    ]
    with test_pipeline.TestPipeline() as pipeline:
        chosen = {
            "urls": pipeline | "U" >> beam.Create(URLS),
            "results": pipeline | "R" >> beam.Create(results),
        } | ChooseCaptures(SETTINGS, bucket_count=3)
        captures = chosen["captures"] | "Files" >> beam.Map(
            lambda captures: (captures[0].url, [c.warc_file for c in captures])
        )
        expected = [(url, ["new", "old"]) for url in URLS[:10]]
        expected += [(url, ["old"]) for url in URLS[10:20]]
        assert_that(captures, equal_to(expected), "captures")
        dropped = chosen["dropped"] | "Reasons" >> beam.Map(lambda row: (row.url, row.reason))
        missing = [(url, "http_status_404") for url in URLS[20:25]]
        missing += [(url, "not_in_crawl") for url in URLS[25:]]
        assert_that(dropped, equal_to(missing), "dropped")


def test_all_captures_of_a_page_are_fetched_by_the_part_of_its_first_choice(tmp_path):
    writer = StageWriter(str(tmp_path), LOCATE, 50, {}, Ticker(None))
    locate = LocatePages(writer=writer, key_paths=[], result_paths=[], settings=SETTINGS)
    (captures,) = [[capture(file, offset) for file, offset in (("a", 5), ("b", 10 * WINDOW_BYTES))]]
    parts = [part for part, _ in locate._with_parts(captures)]
    assert len(set(parts)) == 1
    neighbor = [capture("a", WINDOW_BYTES - 1)]
    assert [part for part, _ in locate._with_parts(neighbor)] == parts[:1]
    others = {next(locate._with_parts([capture("a", i * WINDOW_BYTES)]))[0] for i in range(200)}
    assert len(others) > 40


def capture(file, offset):
    from wikisum.pipeline.locate.best_capture import best_captures

    (one,) = best_captures(URLS[0], [found(filename=file, offset=offset)], SETTINGS)
    return one
