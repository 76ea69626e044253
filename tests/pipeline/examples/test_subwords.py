import pytest

from wikisum.pipeline.examples.subwords import is_sampled

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]


def test_the_sample_is_a_share_of_the_texts():
    assert sum(is_sampled(t, 0.3) for t in TEXTS) == pytest.approx(90, abs=25)
    assert all(is_sampled(t, 1.0) for t in TEXTS)
    assert not any(is_sampled(t, 0.0) for t in TEXTS)
