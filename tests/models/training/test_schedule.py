import math

import pytest

from wikisum.models.settings.run import TrainSettings
from wikisum.models.table import preset
from wikisum.models.training.schedule import learning_rate


@pytest.mark.parametrize(
    ("factor", "width", "warmup", "peak"),
    [(3, 256, 8000, 2.096e-3), (1, 512, 4000, 6.99e-4), (1, 256, 16000, 4.94e-4)],
)
def test_peaks_of_the_papers(factor, width, warmup, peak):
    assert factor * (width * warmup) ** -0.5 == pytest.approx(peak, rel=1e-3)
    settings = TrainSettings(peak_learning_rate=peak, warmup_steps=warmup)
    for step in (1, warmup // 2, warmup, 10 * warmup):
        noam = factor * width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert learning_rate(step, settings) == pytest.approx(noam, rel=1e-3)


def test_presets_have_those_peaks():
    assert preset("ht-paper").train.peak_learning_rate == 2.096e-3
    assert preset("t-ed").train.peak_learning_rate == 6.99e-4


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_other_schedules_warm_up_alike_and_then_follow_their_curves(schedule):
    settings = TrainSettings(steps=110, warmup_steps=10, peak_learning_rate=0.5, schedule=schedule)
    rates = [learning_rate(step, settings) for step in (1, 5, 10, 35, 60, 110, 200)]
    cosines = [0.5, 0.25 * (1 + math.sqrt(0.5)), 0.25, 0.0, 0.0]
    after = cosines if schedule == "cosine" else [0.5] * 5
    assert rates == pytest.approx([0.05, 0.25, *after])
