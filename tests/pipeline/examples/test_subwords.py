import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.pipeline.examples.subwords import sampled, text_hash

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]


ALL = 10**9


def test_the_sample_is_a_share_of_the_texts():
    assert len(sampled(TEXTS, 0.3, ALL)) == pytest.approx(90, abs=25)
    assert sampled(TEXTS, 1.0, ALL) == TEXTS
    assert sampled(TEXTS, 0.0, ALL) == []


def test_texts_with_the_smallest_hashes_stay_within_the_limit():
    by_hash = sorted(TEXTS, key=text_hash)
    limit = sum(map(len, by_hash[:40]))
    assert sampled(TEXTS, 1.0, limit) == [t for t in TEXTS if t in by_hash[:40]]
    assert sampled(TEXTS, 1.0, limit - 1) == [t for t in TEXTS if t in by_hash[:39]]


@given(st.lists(st.text(max_size=9)), st.floats(0, 1), st.integers(1, 60))
def test_the_limit_holds_and_shards_do_not_matter(texts, share, limit):
    kept = sampled(texts, share, limit)
    assert sum(map(len, kept)) <= limit
    if sum(map(len, texts)) <= limit:
        assert kept == [t for t in texts if text_hash(t) < share]
    distinct = list(dict.fromkeys(texts))
    assert set(sampled(distinct, share, limit)) == set(sampled(distinct[::-1], share, limit))
