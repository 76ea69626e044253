import dataclasses

import pytest

from wikisum.pipeline.estimate.rates import NAMES, Assumptions, Prices, Rates, with_values


def test_figures_that_are_given():
    values = {"coverage": 1.0, "cpu_hour": 0.0, "soup_bytes": 5.0}
    assert with_values(Assumptions(), values).coverage == 1.0
    assert with_values(Prices(), values).cpu_hour == 0.0
    assert dataclasses.asdict(with_values(Rates(), values)) == {
        **dataclasses.asdict(Rates()), "soup_bytes": 5.0
    }  # fmt: skip
    for name, value in (("coverage", 1.5), ("soup_bytes", 0.0), ("soup_bytes", float("inf"))):
        with pytest.raises(ValueError, match="is out of range"):
            [with_values(kind(), {name: value}) for kind in (Rates, Assumptions)]


def test_a_name_belongs_to_one_group():
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", ["coverage", "live_coverage", "page_share"])
def test_a_share_is_at_most_one(name):
    assert getattr(with_values(Assumptions(), {name: 1.0}), name) == 1.0
    with pytest.raises(ValueError, match=rf"--assume {name}=1\.01 is out of range"):
        with_values(Assumptions(), {name: 1.01})


@pytest.mark.parametrize("value", [-1.0, 0.0, float("inf"), float("nan")])
def test_a_rate_is_positive_and_finite(value):
    with pytest.raises(ValueError, match="--assume soup_bytes="):
        with_values(Rates(), {"soup_bytes": value})


@pytest.mark.parametrize("value", [-1.0, float("inf"), float("nan")])
def test_a_price_may_be_zero_and_nothing_less(value):
    with pytest.raises(ValueError, match="--assume read_gb="):
        with_values(Prices(), {"read_gb": value})


def test_a_wrong_value_of_another_group_is_that_groups_error():
    assert with_values(Prices(), {"coverage": 5.0, "unknown": -1.0}) == Prices()
