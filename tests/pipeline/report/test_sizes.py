import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import SIZES, Sizes
from wikisum.pipeline.report.sizes import histogram, read_sizes, size_percentiles


def test_percentiles_and_means_of_examples(tmp_path):
    with open_shard(str(tmp_path), "sizes.parquet", SIZES, {}) as writer:
        for n in range(11):
            writer.write(Sizes(f"{n}", 10 * n, 1, 60, 0, 40, n, 50, 5, 0.5))
    values = read_sizes(Workspace(str(tmp_path)), ["sizes.parquet"])
    result = size_percentiles(values)
    assert result["lead_words"] == {
        "mean": 50.0, "20": 20.0, "40": 40.0, "50": 50.0, "60": 60.0, "80": 80.0, "100": 100.0,
    }  # fmt: skip
    assert result["documents"]["mean"] == 6.0
    assert result["words_per_paragraph"] == 30.0


def test_a_histogram_by_hand():
    assert histogram(np.array([0.0, 1, 1, 3])) == {"step": 1.0, "counts": [1, 2, 1]}
    assert histogram(np.arange(300.0))["step"] == 10.0
    shares = histogram(np.array([0.0, 0.05, 0.31, 0.6]))
    assert shares["step"] == 0.02
    assert histogram(np.empty(0)) == {"step": 1.0, "counts": []}


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**6), min_size=1), st.booleans())
def test_every_value_is_in_one_of_few_bins(numbers, are_shares):
    values = np.array(numbers, dtype=np.float64) / (10**6 if are_shares else 1)
    result = histogram(values)
    assert sum(result["counts"]) == len(numbers)
    assert 1 <= len(result["counts"]) <= 31
    if len(result["counts"]) > 1:
        assert result["counts"][0] == sum(v < result["step"] * (1 - 1e-6) for v in values)
