from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.urls import url_key
from wikisum.pipeline.validate import tally
from wikisum.pipeline.validate.tally import Unequal, open_tally

NAMES = st.lists(st.sampled_from("abcdefghij"), max_size=60)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(tally, "KEYS_PER_RANGE", 8)
    monkeypatch.setattr(tally, "_BUFFER_KEYS", 3)


def unequal(left, right, expected) -> list[Unequal]:
    with open_tally(expected) as counted:
        for name in left:
            counted.add_left(name)
        for name in right:
            counted.add_right(name)
        return list(counted.unequal())


@given(NAMES, NAMES, st.integers(0, 100))
def test_it_finds_what_two_counters_find(left, right, expected):
    one, other = Counter(left), Counter(right)
    differ = {n for n in one | other if one[n] != other[n]}
    told = sorted(Unequal(url_key(n), one[n], other[n]) for n in differ)
    assert unequal(left, right, expected) == told


def test_nothing_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tally.tempfile, "tempdir", str(tmp_path))
    with open_tally(100) as counted:
        for number in range(100):
            counted.add_left(str(number))
        assert list(tmp_path.glob("wikisum-tally-*/*"))
    assert not list(Path(tmp_path).iterdir())
