"""Whether training is stuck: after the warm-up, the loss stays where guessing by frequency is.

Too high a rate for a deep network, for example with normalization after each sublayer, saturates
its attention in the first updates. The network then ignores its input: its loss falls to the
entropy of the subwords' frequencies, which the output layer can learn alone, and stays there.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from wikisum.models.settings.run import RunSettings, TrainSettings
from wikisum.ranker.runs.training_log import read_log

# A stuck loss still falls by about 0.5 % while a learning one falls by 10 % and more.
MIN_FALL = 0.02


def frequency_loss(count_V: Tensor) -> float:
    """Return the loss of predicting each subword by its frequency, in nats: their entropy."""
    share_V = count_V[count_V > 0].double() / count_V.sum()
    return float(-(share_V * share_V.log()).sum())


def is_stuck(rows: Sequence[Mapping[str, float]], warmup_steps: int, frequency_loss: float) -> bool:
    """Whether a run has learned nothing but frequencies and has stopped to learn.

    `rows` are those of the log; only those after the warm-up with a `loss` count. The run is stuck
    if the loss of the later half is not below `frequency_loss`, and less than 2 % below that of the
    earlier half. Fewer than two rows decide nothing.
    """
    losses = [row["loss"] for row in rows if row["step"] > warmup_steps and "loss" in row]
    half = len(losses) // 2
    if not half:
        return False
    earlier, later = (math.fsum(part) / half for part in (losses[:half], losses[-half:]))
    return later > frequency_loss and later > (1 - MIN_FALL) * earlier


def explain_stall(settings: RunSettings, frequency_loss: float) -> str:
    """Return a line that says what happened and what to try."""
    train = settings.train
    advice = [
        f"a lower --peak-learning-rate (now {train.peak_learning_rate:g})",
        f"more --warmup-steps (now {train.warmup_steps:,})",
    ]
    if getattr(settings.model, "pre_norm", None) is False:
        advice.insert(0, "--pre-norm")
    return (
        f"warning: the loss has not moved since the warm-up, and guessing subwords by their "
        f"frequency would give {frequency_loss:.2f}: the model seems to ignore its input. "
        f"Try {', or '.join(advice)}\n"
    )


class StallCheck:
    """Counts labels up to twice the warm-up, and then says once whether the run is stuck."""

    def __init__(self, settings: RunSettings, device: torch.device) -> None:
        self._settings, self._own = settings, settings.train
        self._count_V = torch.zeros(settings.model.vocab_size, device=device)

    def count(self, step: int, label_Y: Tensor) -> None:
        """Count the labels of a batch of an update."""
        if step <= 2 * self._own.warmup_steps:
            known_Y = label_Y.clamp(max=len(self._count_V) - 1)
            self._count_V.index_add_(0, known_Y, torch.ones_like(known_Y, dtype=torch.float))

    def warning(self, step: int, run: Path) -> str:
        """Return the warning at the first logged step at which it is due; empty for none."""
        if not is_due(step, self._own) or not bool(self._count_V.any()):
            return ""
        loss = frequency_loss(self._count_V)
        stuck = is_stuck(read_log(run), self._own.warmup_steps, loss)
        return explain_stall(self._settings, loss) if stuck else ""


def is_due(step: int, settings: TrainSettings) -> bool:
    """Whether this is the first logged step at twice the warm-up or later."""
    return step >= 2 * settings.warmup_steps > step - settings.log_every
