import io
import pickle
import time

import pytest

from wikisum.pipeline.engine import progress


def test_the_line_has_share_count_rate_and_time_left():
    line = progress.progress_line("scan", "pages", 1200, 0.25, 60)
    assert line == "scan       25%  1,200 pages  20.0/s  3:00 left"
    assert "left" not in progress.progress_line("scan", "pages", 0, None, 0)


def test_tickers_of_several_workers_add_up(tmp_path):
    tickers = [progress.Ticker(str(tmp_path)) for _ in range(2)]
    for ticker in tickers:
        ticker.add(items=3, work=1.5)
        ticker.flush()
    assert progress._sums(str(tmp_path)) == (6, 3.0)
    again = pickle.loads(pickle.dumps(tickers[0]))
    again.flush()
    assert progress._sums(str(tmp_path))[0] == 6
    progress.Ticker(None).add(1, 1)


def test_work_of_this_process_is_drawn(monkeypatch):
    monkeypatch.setattr(progress, "_PLAIN_LINE_EVERY_SECONDS", 0.01)
    to = io.StringIO()
    with progress.watched("hashes", "files", 8, to) as ticker:
        ticker.add(items=2, work=4)
        ticker.flush()
        until = time.monotonic() + 10
        while "50%" not in to.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "hashes     50%  2 files" in to.getvalue()
    with progress.watched("hashes", "files", 8, None) as ticker:
        ticker.add(items=2, work=4)


def test_parts_on_other_machines_are_counted(monkeypatch):
    monkeypatch.setattr(progress, "_PLAIN_LINE_EVERY_SECONDS", 0.01)
    done = iter([5])  # two of them before; then the store does not answer any more
    to = io.StringIO()

    def count() -> int:
        try:
            return next(done)
        except StopIteration as error:
            raise OSError("503") from error

    with progress.counted(count, "scan", 14, 12, to):
        until = time.monotonic() + 10
        while "..." not in to.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "scan       25%  3 of 12 parts" in to.getvalue()
    assert "scan      ...\n" in to.getvalue()


def test_a_stage_that_fails_stops_the_drawing(tmp_path):
    def fail() -> None:
        with progress.drawn(str(tmp_path / "p"), "scan", "pages", 1, io.StringIO()):
            raise KeyError

    with pytest.raises(KeyError):
        fail()
