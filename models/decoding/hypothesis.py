"""The result of decoding one example. Knows no torch."""

from typing import NamedTuple


class Hypothesis(NamedTuple):
    """A summary: subwords without BEGIN and END, its log-probability in nats, its score."""

    tokens: list[int]
    log_probability: float
    score: float
