from collections import Counter
from pathlib import Path

import numpy as np
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
    monkeypatch.setattr(tally, "_HELD_KEYS", 3)


def keys_of(names) -> np.ndarray:
    return np.array([url_key(name) for name in names], np.uint64)


def unequal(left, right, expected) -> list[Unequal]:
    """What differs, when names are added one by one and then the rest at once."""
    with open_tally(expected) as counted:
        for name in left[:5]:
            counted.add(keys_of([name]), keys_of([]))
        counted.add(keys_of(left[5:]), keys_of(right))
        return list(counted.unequal())


@pytest.mark.slow
@given(NAMES, NAMES, st.integers(0, 100))
def test_it_finds_what_two_counters_find(left, right, expected):
    one, other = Counter(left), Counter(right)
    differ = {n for n in one | other if one[n] != other[n]}
    result = sorted(Unequal(url_key(n), one[n], other[n]) for n in differ)
    assert unequal(left, right, expected) == result


def test_nothing_stays_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tally.tempfile, "tempdir", str(tmp_path))
    with open_tally(100) as counted:
        counted.add(keys_of(map(str, range(100))), keys_of([]))
        assert len(list(tmp_path.glob("wikisum-tally-*/*"))) == 26
    assert not list(Path(tmp_path).iterdir())
