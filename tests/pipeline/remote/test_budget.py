import struct

import pytest

from wikisum.pipeline.remote.budget import LONGEST_HOLD_SECONDS, Budget


class Clock:
    """A clock that moves only while somebody sleeps."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(params=["one process", "shared file"])
def path(request, tmp_path) -> str | None:
    return str(tmp_path / "budget") if request.param == "shared file" else None


def budget(path: str | None, per_second: float, clock: Clock) -> Budget:
    return Budget(path, per_second, clock, clock.sleep)


def test_requests_are_spaced_evenly_after_the_first(path):
    clock = Clock()
    limited = budget(path, 4, clock)
    for _ in range(4):
        limited.take()
    assert clock.slept == [0.25, 0.25, 0.25]


def test_time_that_passed_is_not_saved_up(path):
    clock = Clock()
    limited = budget(path, 4, clock)
    limited.take()
    clock.now += 60
    for _ in range(3):
        limited.take()
    assert clock.slept == [0.25, 0.25]


def test_without_a_rate_nobody_waits(path):
    clock = Clock()
    unlimited = budget(path, 0, clock)
    for _ in range(5):
        unlimited.take()
    assert clock.slept == []


def test_a_hold_delays_the_next_request_and_the_longest_hold_counts(path):
    clock = Clock()
    limited = budget(path, 4, clock)
    limited.hold(30)
    limited.hold(5)
    limited.take()
    limited.take()
    assert clock.slept == [30, 0.25]


def test_two_budgets_share_a_file_but_not_a_process(tmp_path):
    clock = Clock()
    for path, waits in ((str(tmp_path / "budget"), [0.5]), (None, [])):
        clock.slept.clear()
        budget(path, 2, clock).take()
        budget(path, 2, clock).take()
        assert clock.slept == waits


def test_a_hold_of_an_hour_is_kept_and_a_later_time_is_taken_for_a_clock_set_back(path):
    clock = Clock(100_000)
    limited = budget(path, 1, clock)
    limited.hold(LONGEST_HOLD_SECONDS)
    limited.take()
    assert clock.slept == [3600]
    limited.hold(10)
    clock.now -= LONGEST_HOLD_SECONDS
    limited.take()
    assert clock.slept == [3600]


@pytest.mark.parametrize("content", [b"", b"half", struct.pack("<d", float("nan"))])
def test_a_damaged_file_costs_no_wait(content, tmp_path):
    path = tmp_path / "budget"
    path.write_bytes(content)
    clock = Clock()
    limited = budget(str(path), 2, clock)
    limited.take()
    limited.take()
    assert clock.slept == [0.5]
