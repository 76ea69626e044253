import re
from dataclasses import dataclass, fields

import pytest

from wikisum.pipeline.remote.settings import http_url
from wikisum.ranker.setting import (
    Checked,
    fault_of,
    flag_of,
    require,
    setting,
    share_setting,
)


@dataclass(frozen=True)
class Fruit(Checked):
    color: str = setting("red", "color of the peel", choices=["red", "green"])
    share: float = setting(0.5, "share that is eaten", at_least=0, at_most=1)
    max_seeds: int | None = setting(None, "maximum seeds", flag="seeds", above=0)
    water: float = share_setting(0.8, "share of water")
    weight: float = setting(1.0, "weight", above=0, at_most=9)
    urls: tuple[str, ...] = setting((), "where it grows", parse=http_url)
    note: str = "no flag"


def test_a_field_carries_what_its_flag_says():
    found = {f.name: f for f in fields(Fruit)}
    assert found["color"].metadata["help"] == "color of the peel"
    assert flag_of(found["max_seeds"]) == "seeds"
    assert flag_of(found["share"]) == "share"
    assert not found["note"].metadata


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"color": "blue"}, "--color must be one of red, green, not 'blue'"),
        ({"share": 1.5}, "--share must be between 0 and 1, not 1.5"),
        ({"share": float("nan")}, "--share must be between 0 and 1, not nan"),
        ({"max_seeds": 0}, "--seeds must be greater than 0, not 0"),
        ({"max_seeds": float("inf")}, "--seeds must be greater than 0, not inf"),
        ({"water": 1}, "--water must be at least 0 and below 1, not 1"),
        ({"water": -0.1}, "--water must be at least 0 and below 1, not -0.1"),
        ({"weight": 0}, "--weight must be greater than 0 and at most 9, not 0"),
        ({"weight": 9.5}, "--weight must be greater than 0 and at most 9, not 9.5"),
        ({"urls": ("http://a.example", "ftp://a")}, "--urls must be an http or https URL"),
    ],
)
def test_a_value_out_of_bounds_names_its_flag(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Fruit(**values)


@pytest.mark.parametrize(
    "values",
    [
        {"color": "green"},
        {"share": 0},
        {"share": 1.0},
        {"max_seeds": 1},
        {"water": 0},
        {"weight": 9},
        {},
    ],
)
def test_values_within_bounds_are_taken(values):
    fruit = Fruit(**values)
    assert all(fault_of(f, getattr(fruit, f.name)) is None for f in fields(fruit))


def test_a_condition_that_holds_is_silent():
    require(True, "never")
    with pytest.raises(ValueError, match=r"^message$"):
        require(False, "message")
