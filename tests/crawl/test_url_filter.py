import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.url_filter import UrlFilter, bucket_bits, filter_words
from wikisum.crawl.urls import url_key

KEYS = st.sets(st.integers(0, 2**64 - 1), max_size=300)


def built(keys, blocks: int = 3) -> UrlFilter:
    array = np.array(sorted(keys), np.uint64)
    words = np.concatenate(list(filter_words(np.array_split(array, blocks), len(array))))
    return UrlFilter(memoryview(words))


def test_a_case_by_hand():
    # 65 keys make one bit of bucket: the first half of the numbers, and the second
    keys = [*range(64), 1 << 63]
    words = np.concatenate(list(filter_words([np.array(keys, np.uint64)], 65)))
    low = [k >> 31 for k in range(64)]
    assert words.tolist() == [*low, 0, 0, 64, 65, 1]


@given(KEYS, st.sets(st.integers(0, 2**64 - 1), max_size=50))
def test_it_holds_its_keys_and_nothing_that_differs_in_the_kept_bits(keys, others):
    found = built(keys)
    assert len(found) == len(keys)
    assert all(key in found for key in keys)
    bits = 32 - bucket_bits(len(keys))
    kept = {key >> bits for key in keys}
    assert all((other in found) == (other >> bits in kept) for other in others)


def test_many_keys_have_no_false_friend():
    source = random.Random(1)
    keys = {source.getrandbits(64) for _ in range(50_000)}
    found = built(keys)
    assert all(key in found for key in keys)
    assert not any(url_key(f"http://{i}.example/") in found for i in range(50_000))


@pytest.mark.parametrize("count", [0, 1, 64, 65, 1000, 90_000_000])
def test_buckets_are_neither_empty_nor_full(count):
    assert (1 << bucket_bits(count)) * 64 >= count
    assert count <= 64 or (1 << bucket_bits(count)) * 32 < count


def test_keys_must_rise_and_be_as_many_as_reported():
    def words(count, *blocks):
        return list(filter_words([np.array(b, np.uint64) for b in blocks], count))

    with pytest.raises(ValueError, match="must be ascending"):
        words(3, [1, 2], [2])
    with pytest.raises(ValueError, match="must be ascending"):
        words(2, [2, 1])
    with pytest.raises(ValueError, match="1 keys for a URL filter of 2"):
        words(2, [1], [])
    with pytest.raises(ValueError, match="at most"):
        words(1 << 32)


@pytest.mark.parametrize("words", [[], [0], [1, 0], [0, 0, 33], [0, 5, 0], [0, 0, 0, 0, 7]])
def test_another_block_is_refused(words):
    with pytest.raises(ValueError, match="not a URL filter"):
        UrlFilter(memoryview(np.array(words, np.uint32)))
