import threading
import time

import pytest

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.index.ranges import Span
from wikisum.pipeline.remote import spans as module
from wikisum.pipeline.remote.read_ahead import read_ahead
from wikisum.pipeline.remote.spans import read_spans


def test_results_come_in_order():
    def slow(number: int) -> int:
        time.sleep(0.01 * (number % 3))
        return number * number

    assert list(read_ahead(slow, range(20), 4)) == [(n, n * n) for n in range(20)]


def test_no_more_is_begun_than_can_wait():
    begun: list[int] = []
    steps = read_ahead(begun.append, iter(range(1000)), 3)
    next(steps)
    time.sleep(0.05)
    assert len(begun) <= 6
    steps.close()


def test_only_so_many_at_a_time():
    running, most, lock = 0, 0, threading.Lock()

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1

    list(read_ahead(work, range(30), 3))
    assert most == 3


def test_what_the_function_raises_comes_out():
    def fail(number: int) -> int:
        if number == 5:
            raise KeyError(number)
        return number

    steps = read_ahead(fail, range(10), 2)
    assert [next(steps)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        next(steps)


class Remote:
    """Files in memory; `broken` ranges are answered with an error."""

    def __init__(self, *broken: tuple[int, int], is_transient: bool = False) -> None:
        self.broken = broken
        self.is_transient = is_transient
        self.asked: list[tuple[str, int, int]] = []

    def read(self, path: str, offset: int, length: int) -> bytes:
        self.asked.append((path, offset, length))
        if any(offset <= start and start + size <= offset + length for start, size in self.broken):
            raise BadAnswer("http_500" if self.is_transient else "past_end", "", self.is_transient)
        return bytes(length)


def spans_of(remote: Remote, *spans: tuple[int, int], most: int = 1000) -> list[object]:
    items = [Span("f", offset, length) for offset, length in spans]
    found = list(read_spans(remote, 1, items, lambda span: span, most))
    assert [item for item, _ in found] == items
    return [data.reason if isinstance(data, BadAnswer) else len(data) for _, data in found]


def test_neighbors_are_cut_out_of_one_range():
    remote = Remote()
    assert spans_of(remote, (0, 10), (10, 20), (40, 5)) == [10, 20, 5]
    assert remote.asked == [("f", 0, 45)]


def test_one_that_spoils_the_range_loses_only_itself():
    remote = Remote((10, 20))
    assert spans_of(remote, (0, 10), (10, 20), (40, 5)) == [10, "past_end", 5]
    assert len(remote.asked) == 4


def test_a_fault_that_passes_is_not_asked_about_again():
    remote = Remote((10, 20), is_transient=True)
    assert spans_of(remote, (0, 10), (10, 20)) == ["http_500"] * 2
    assert len(remote.asked) == 1


def test_what_is_too_large_is_not_asked_for(monkeypatch):
    monkeypatch.setattr(module, "MAX_RANGE_BYTES", 50)
    remote = Remote()
    assert spans_of(remote, (0, 10), (10, 2000), most=1000) == [10, "page_too_large"]
    assert remote.asked == [("f", 0, 10)]
    assert spans_of(remote, (0, 10), (10, 30), most=20) == [10, "page_too_large"]
