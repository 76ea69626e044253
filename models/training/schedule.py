"""The learning rate of each update."""

import math

from wikisum.models.settings.run import TrainSettings


def learning_rate(step: int, settings: TrainSettings) -> float:
    """Return the learning rate of an update, counted from 1.

    It rises linearly to the peak over the warm-up. With width d and factor f, as papers give it,
    the peak of `inverse_sqrt` is f * (d * warmup) ** -0.5 (Vaswani et al. 2017, section 5.3).
    """
    peak, warmup = settings.peak_learning_rate, settings.warmup_steps
    if step < warmup:
        return peak * step / warmup
    if settings.schedule == "inverse_sqrt":
        return peak * math.sqrt(warmup / step)
    if settings.schedule == "cosine":
        share = (step - warmup) / max(settings.steps - warmup, 1)
        return peak * (1 + math.cos(math.pi * min(share, 1.0))) / 2
    return peak
