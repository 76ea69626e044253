import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.judging.report.agreement import LEVELS, krippendorff_alpha

# Krippendorff (2011), section C: four observers, twelve units, missing values
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
UNITS = [[v for v in unit if v is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_the_published_example(level, alpha):
    assert krippendorff_alpha(UNITS, level) == pytest.approx(alpha, abs=5e-4)


def test_a_case_by_hand():
    # values a a | a b: pairs aa 2, ab 1, ba 1; 3 a and 1 b; expected 2 * 3 * 1 / 3
    assert krippendorff_alpha([[0, 0], [0, 1]], "nominal") == pytest.approx(1 - 2 / 2)


@pytest.mark.parametrize("level", LEVELS)
def test_the_ends(level):
    assert krippendorff_alpha([[1, 1], [2, 2, 2], [4]], level) == 1
    assert krippendorff_alpha([[1, 2], [2, 1]], level) < 0
    assert np.isnan(krippendorff_alpha([[3, 3], [3]], level))
    assert np.isnan(krippendorff_alpha([[1], [2]], level))


def literal_interval(units):
    """Mean squared differences inside units, over those of all paired values."""
    units = [unit for unit in units if len(unit) > 1]
    values = list(itertools.chain(*units))
    inside = sum(sum((a - b) ** 2 for a, b in itertools.permutations(u, 2)) / (len(u) - 1)
                 for u in units) / len(values)  # fmt: skip
    pairs = list(itertools.permutations(values, 2))
    return 1 - inside / (sum((a - b) ** 2 for a, b in pairs) / len(pairs))


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=8))
def test_interval_agrees_with_its_definition_and_order_does_not_matter(units):
    paired = [value for unit in units if len(unit) > 1 for value in unit]
    if len(set(paired)) < 2:
        return
    assert krippendorff_alpha(units, "interval") == pytest.approx(literal_interval(units))
    backwards = [unit[::-1] for unit in units[::-1]]
    for level in LEVELS:
        alpha = krippendorff_alpha(units, level)
        assert alpha <= 1 + 1e-12
        assert krippendorff_alpha(backwards, level) == pytest.approx(alpha)


def test_another_level_is_a_wrong_call():
    with pytest.raises(ValueError, match="level is 'ratio'"):
        krippendorff_alpha([[1, 2]], "ratio")
