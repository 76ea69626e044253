import io

from wikisum.ranker.runs import progress
from wikisum.ranker.runs.progress import ProgressLine, clock


def test_durations_by_hand():
    assert clock(3725) == "1:02:05"
    assert clock(59.6) == "1:00"


def test_the_line_counts_from_where_the_run_goes_on(monkeypatch):
    times = iter([1000.0, 1005.0, 1020.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    to = io.StringIO()
    line = ProgressLine("ranker", "steps", 1000, to, done=100)
    line.draw(110)  # too early
    line.draw(140, "  7 paragraphs/s")
    assert to.getvalue() == "ranker    140 of 1,000 steps  2.0/s  7:10 left  7 paragraphs/s\n"
