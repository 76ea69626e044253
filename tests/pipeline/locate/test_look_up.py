from types import SimpleNamespace

import pytest

from tests.pipeline.locate.test_best_capture import URL, entry
from wikisum.crawl.index.cdx import Entry
from wikisum.pipeline.engine import progress
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.locate import look_up
from wikisum.pipeline.locate.best_capture import LookupResult
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.look_up import LookUp, read_results, redirect_of, results_of
from wikisum.pipeline.locate.reader import Answer, IndexSlice
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.locate.stage import LOOK_UP
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings

LOOKUP = Lookup("example,a)/page", URL, URL)


def candidates(*entries: Entry, most: int = 2) -> list[LookupResult]:
    return list(results_of(LOOKUP, Answer([LOOKUP], list(entries), []), 0, 0, None, most))


def test_only_captures_of_the_very_page_count():
    other_case = entry(url="http://a.example/page")
    assert candidates(other_case) == []
    assert candidates(other_case, entry(url="::")) == []
    assert len(candidates(entry(), entry(), entry())) == 2


def test_of_useless_captures_one_tells_why():
    (row,) = candidates(entry(status=404), entry(status=500, timestamp="20250101000000"))
    assert row.reason == "http_status_500"
    (row,) = candidates(entry(status=404), entry())
    assert row.reason is None


@pytest.mark.parametrize(
    ("redirect", "target"),
    [
        ("/Other", "http://a.example/Other"),
        ("https://b.example/x", "http://b.example/x"),
        ("https://www.a.example/Page/", None),  # itself, in another spelling
        ("https://en.wikipedia.org/wiki/Page", None),
        ("mailto:a@b.example", None),
        ("", None),
    ],
)
def test_where_a_redirect_leads(redirect, target):
    answer = Answer([LOOKUP], [entry(status=301, redirect=redirect)], [])
    further = redirect_of(LOOKUP, answer, None)
    assert (further and further.url) == target
    assert further is None or further.wanted == URL


def test_a_page_that_is_there_is_not_followed():
    moved = entry(status=301, redirect="/Other", timestamp="20250101000000")
    assert redirect_of(LOOKUP, Answer([LOOKUP], [moved, entry()], []), None) is None


@pytest.mark.parametrize(("hops", "redirect_count"), [(0, 1), (1, 0)])
def test_a_slice_gives_results_redirects_and_progress(tmp_path, monkeypatch, hops, redirect_count):
    """Two URLs that lead to one page, and a page that is a redirect, which is followed once."""
    moved = Answer([LOOKUP], [entry(status=301, redirect="/Other")], [])
    answers = [Answer([LOOKUP, LOOKUP], [entry()], []), moved]
    monkeypatch.setitem(look_up.ANSWERS, "zipnum", lambda task, reader: iter(answers))
    ticker = Ticker(str(tmp_path))
    access = Access(RemoteSettings(roots=(str(tmp_path),)), None, 1)
    do = LookUp(
        StageWriter(str(tmp_path), LOOK_UP, 1, {}, ticker),
        hops, LocateSettings(("A",), index="zipnum"), access, (Lookups((), 0),), None,
    )  # fmt: skip
    made = {str(f.path).split("/")[1]: f for f in do(0, IndexSlice(0, "A", 0, 1)).files}
    ticker.flush()
    assert progress._sums(str(tmp_path)) == (3, 3)
    assert made["redirects"].rows == redirect_count
    results = read_results(str(tmp_path / made["lookup-results"].path))
    assert [row.reason for row in results] == [None, None, "http_status_301"]


def test_only_what_failed_for_the_named_reasons_is_looked_up_again(tmp_path, monkeypatch):
    rows = [LookupResult(f"http://{r}.example/", 0, 0, r, "why", None) for r in ("busy", "gone")]
    monkeypatch.setattr(look_up, "read_results", lambda path: iter(rows))
    previous = SimpleNamespace(path=lambda p: p if "results" in p else None, reasons={"busy"})
    writer = StageWriter(str(tmp_path), LOOK_UP, 1, {}, Ticker(None))
    do = LookUp(writer, 1, LocateSettings(("A",)), None, (), previous)
    with writer.part(0) as part:
        assert do._keep(part, []) == {"http://busy.example/"}
        assert part.counts == {"lookups_gone": 1}  # kept
