import pytest

from wikisum.models.configs import PRESETS
from wikisum.models.training.schedule import learning_rate


@pytest.mark.parametrize(
    ("factor", "width", "warmup", "peak"),
    [(3, 256, 8000, 2.096e-3), (1, 512, 4000, 6.99e-4), (1, 256, 16000, 4.94e-4)],
)
def test_peaks_of_the_papers(factor, width, warmup, peak):
    assert factor * (width * warmup) ** -0.5 == pytest.approx(peak, rel=1e-3)
    for step in (1, warmup // 2, warmup, 10 * warmup):
        noam = factor * width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert learning_rate(step, peak, warmup) == pytest.approx(noam, rel=1e-3)


def test_presets_have_those_peaks():
    assert PRESETS["ht-paper"].train.peak_learning_rate == 2.096e-3
    assert PRESETS["t-ed"].train.peak_learning_rate == 6.99e-4
