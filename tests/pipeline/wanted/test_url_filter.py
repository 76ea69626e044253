import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.wanted import url_filter as filter_urls
from wikisum.pipeline.wanted.url_filter import (
    FILTER,
    BuildFilter,
    distinct_keys,
    load_filter,
    read_keys,
    write_keys,
)

KEYS = sorted(url_key(f"http://{i}.example/") for i in range(1000))


@pytest.fixture
def built(tmp_path, monkeypatch):
    """The folder with a filter of 1,000 keys, made out of four ranges of them, some empty."""
    monkeypatch.setattr(filter_urls, "_BLOCK_KEYS", 100)
    ranges = [KEYS[:700], [], KEYS[700:], []]
    made = [write_keys(str(tmp_path), f"keys-{i}", [*r, *r]) for i, r in enumerate(ranges)]
    assert [file.rows for file in made] == [700, 0, 300, 0]
    result = BuildFilter(str(tmp_path), 1000, Ticker(None))(0, [file.path for file in made])
    assert result.files[0].size_bytes == (tmp_path / FILTER).stat().st_size < 4.2 * 1000
    return tmp_path


def test_keys_go_in_and_come_out(built):
    path = str(built / ".work" / "wanted" / "keys-0.keys")
    assert np.concatenate(list(read_keys(path))).tolist() == KEYS[:700]


def test_the_filter_holds_the_keys_of_all_parts(built):
    found = load_filter(str(built / FILTER), "one")
    assert len(found) == 1000
    assert all(key in found for key in KEYS)
    assert not any(url_key(f"http://{i}.other.example/") in found for i in range(5000))


def test_a_filter_of_another_machine_is_copied_once(built, tmp_path, monkeypatch):
    there = built / FILTER
    monkeypatch.setattr(filter_urls.files, "is_remote", lambda path: path == str(there))
    monkeypatch.setattr(filter_urls.files.tempfile, "gettempdir", lambda: str(tmp_path))
    assert KEYS[0] in load_filter(str(there), "two")
    there.unlink()
    load_filter.cache_clear()
    assert KEYS[0] in load_filter(str(there), "two")
    load_filter.cache_clear()


def test_no_wanted_page_at_all(tmp_path):
    empty = write_keys(str(tmp_path), "keys", [])
    BuildFilter(str(tmp_path), 0, Ticker(None))(0, [empty.path])
    assert 5 not in load_filter(str(tmp_path / FILTER), "none")


@given(st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1)))
def test_distinct_keys_are_those_of_numpy(numbers):
    found = distinct_keys(np.array(numbers, np.uint64))
    np.testing.assert_array_equal(found, np.unique(np.array(numbers, np.uint64)))
