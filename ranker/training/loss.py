"""What a batch adds to the loss and to the log."""

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor

LOSS = "loss"


class Figure(NamedTuple):
    """A value for the training log that is a mean: `total / weight` over all batches of a row."""

    total: Tensor | float
    weight: Tensor | float


class Loss(NamedTuple):
    """The loss of a batch.

    `total` is minimized: a sum over so many `predictions` (target labels, and source
    tokens if they are learned).
    `target` is the plain negative log-likelihood of the target labels in nats, summed, without
    smoothing or other terms: log, perplexity and validation use it. `figures` are further values
    for the log by name, such as the loss of the source or the balance of experts.
    """

    total: Tensor
    predictions: int
    target: Tensor
    figures: Mapping[str, Figure] = {}
