"""Roots that do not respond rest, longer each time; one response ends it."""

import pytest

from wikisum.pipeline.remote.roots import Roots

A, B = "https://a.example/", "https://b.example/"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def rest_seconds(roots: Roots, clock: Clock, url: str) -> int:
    """How long the root is not asked, in whole seconds."""
    start = clock.now
    while roots.next_url(0) != url:
        clock.now += 1
    return round(clock.now - start)


def test_a_silent_root_rests_twice_as_long_each_time_up_to_half_an_hour():
    clock = Clock()
    roots = Roots((A, B), clock)
    rests = []
    for _ in range(9):
        roots.note_failure(A, is_silent=True)
        rests.append(rest_seconds(roots, clock, A))
    assert rests == [30, 60, 120, 240, 480, 960, 1920, 1920, 1920]


def test_after_a_response_the_next_rest_is_short_again():
    clock = Clock()
    roots = Roots((A, B), clock)
    for _ in range(3):
        roots.note_failure(A, is_silent=True)
    clock.now += 200
    roots.note_answer(A)
    roots.note_failure(A, is_silent=True)
    assert rest_seconds(roots, clock, A) == 30


def test_only_silence_makes_a_root_rest_and_the_only_root_never_does():
    roots = Roots((A, B), Clock())
    roots.note_failure(A, is_silent=False)
    assert roots.next_url(0) == A
    alone = Roots((A,), Clock())
    alone.note_failure(A, is_silent=True)
    assert alone.next_url(0) == A


def test_failures_lead_to_the_next_root_and_all_are_asked_if_all_rest():
    roots = Roots((A.rstrip("/"), B), Clock())
    assert [roots.next_url(n) for n in range(3)] == [A, B, A]
    for url in (A, B):
        roots.note_failure(url, is_silent=True)
    assert [roots.next_url(n) for n in range(3)] == [A, B, A]


def test_a_quarter_of_an_hour_of_failures_ends_the_job():
    clock = Clock()
    roots = Roots((A, B), clock)
    roots.note_failure(A, is_silent=False)
    clock.now = 900
    roots.check()
    clock.now = 901
    with pytest.raises(OSError, match="does not respond; run the same command to resume"):
        roots.check()
    roots.note_answer(B)
    roots.check()
