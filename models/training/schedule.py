"""The learning rate over time (Vaswani et al. 2017, section 5.3), by its peak."""

import math


def learning_rate(step: int, peak: float, warmup_steps: int) -> float:
    """The rate of a step (from 1 on): straight up to the peak, then down with the root.

    With width d and factor f, as papers give it, the peak is f * (d * warmup) ** -0.5.
    """
    return peak * min(step / warmup_steps, math.sqrt(warmup_steps / step))
