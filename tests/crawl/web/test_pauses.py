from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.web.pauses import MAX_PAUSE_SECONDS, pause_seconds, retry_after_seconds

NOW = datetime(2024, 2, 24, 12, 0, tzinfo=UTC)


def test_pauses_double_up_to_a_minute():
    pauses = [pause_seconds(n, 1.0, None, lambda: 1.0) for n in range(1, 9)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


@given(st.integers(1, 10_000), st.floats(0, 10), st.floats(0, 0.999))
def test_a_pause_is_half_to_all_of_it_by_chance(failures, first, chance):
    pause = pause_seconds(failures, first, None, lambda: chance)
    longest = pause_seconds(failures, first, None, lambda: 1.0)
    assert longest / 2 <= pause <= longest <= MAX_PAUSE_SECONDS


def test_never_sooner_than_the_server_asks():
    assert pause_seconds(1, 1.0, 17.0, lambda: 0.5) == 17
    assert pause_seconds(6, 1.0, 1.0, lambda: 1.0) == 32


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Sat, 24 Feb 2024 12:01:30 GMT", 90),
        ("Sat, 24 Feb 2024 11:00:00 GMT", 0),
        ("24 Feb 2024 12:00:05", 5),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1" * 400, 111_111_111),
        ("²", None),
    ],
)
def test_retry_after(value, seconds):
    assert retry_after_seconds(value, NOW) == seconds
