import math

import pytest

from wikisum.models.network.positions import sinusoids


def test_matches_the_equations():
    table = sinusoids(30, 8)
    for p in (0, 1, 7, 29):
        for i in range(4):
            angle = p / 10_000 ** (2 * i / 8)
            assert table[p, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert table[p, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)
