"""What a training run tells: a line for a person, log.jsonl for comparing, TensorBoard to see."""

import contextlib
import math
import resource
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TextIO

import torch
from torch import Tensor

from wikisum.models.distributed import Team
from wikisum.ranker.runs.progress import clock
from wikisum.ranker.runs.training_log import TrainingLog

_LIVE_LINE_EVERY_SECONDS = 1.0
_PLAIN_LINE_EVERY_SECONDS = 10.0


def peak_memory_bytes(device: torch.device) -> int:
    """The most memory that this process has held, of the GPU if it uses one."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Pending(NamedTuple):
    """The loss and the target tokens, of all processes, that no row of the log has told yet."""

    loss: float = 0.0
    target_tokens: int = 0


class Taken(NamedTuple):
    """A step of one process: the plain loss of its labels, its tokens, and the learning rate."""

    loss: Tensor
    source_tokens: int
    target_tokens: int
    learning_rate: float


class Curve:
    """Sums losses on the device; asks for numbers only when they are told.

    A run that goes on keeps the rows up to its step and loses those behind it, and `pending` is
    what it had summed up since its last row: the curve is that of a run never stopped.
    """

    def __init__(
        self, run: Path, step: int, steps: int, to: TextIO, team: Team, pending: Pending
    ) -> None:
        self._first, self._steps, self.to, self._team = step, steps, to, team
        self._loss = torch.zeros((), dtype=torch.float64, device=team.device)
        if team.is_first:
            self._loss += pending.loss
        self._targets = pending.target_tokens
        self._rate = 0.0
        self._log = TrainingLog(run, step) if team.is_first else None
        self._live = to.isatty()
        self._start = time.monotonic()
        self._clear_line()

    def _clear_line(self) -> None:
        """Begin to count anew what the next progress line tells: this process alone."""
        self._line_loss = torch.zeros_like(self._loss)
        self._line_sources = self._line_targets = 0
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is not None:
            self._log.__exit__(kind, error, trace)
        if self._team.is_first and self._live:
            self.to.write("\n")

    def add(self, step: int, taken: Taken, target_tokens: int) -> None:
        """Count a step, in which all processes took so many target tokens; tell it at times."""
        loss = taken.loss.detach()
        self._loss += loss
        self._targets += target_tokens
        self._rate = taken.learning_rate
        self._line_loss += loss
        self._line_sources += taken.source_tokens
        self._line_targets += taken.target_tokens
        every = _LIVE_LINE_EVERY_SECONDS if self._live else _PLAIN_LINE_EVERY_SECONDS
        if self._team.is_first and time.monotonic() - self._told >= every:
            self._tell(step)
            self._clear_line()

    def log(self, step: int) -> float:
        """Write what was added since the last time; gives the mean loss in nats a subword."""
        total, targets = self.pending()
        loss = total / targets
        # only what does not depend on the machine goes to the log, so that logs can be compared
        self._write(step, {"loss": loss, "learning_rate": self._rate})
        self._loss.zero_()
        self._targets = 0
        return loss

    def pending(self) -> Pending:
        """What was added since the last row, over all processes."""
        return Pending(float(self._team.sum(self._loss.clone())), self._targets)

    def validated(self, step: int, loss: float) -> None:
        """Tell the loss of a validation, in nats a subword."""
        self._write(step, {"validation_loss": loss, "validation_perplexity": _exp(loss)})
        start = "\r\x1b[K" if self._live else ""
        line = f"step {step:,}  validation {loss:.3f}  ppl {_exp(loss):,.2f}"
        self._say(f"{start}{line}\n")
        self._clear_line()

    def _write(self, step: int, values: dict[str, float]) -> None:
        if self._log is not None:
            self._log.write({"step": step, **values})

    def _tell(self, step: int) -> None:
        now = time.monotonic()
        loss = float(self._line_loss) / self._line_targets
        # the other processes take as much in that time
        tokens = (self._line_sources + self._line_targets) * self._team.size
        left = (now - self._start) / (step - self._first) * (self._steps - step)
        gib = peak_memory_bytes(self._team.device) / 2**30
        line = (
            f"step {step:,}/{self._steps:,}  {step / self._steps:4.0%}  loss {loss:.3f}  "
            f"ppl {_exp(loss):,.2f}  {tokens / (now - self._told):,.0f} tokens/s  {gib:.1f} GiB  "
            f"{clock(left)} left"
        )
        self._say(f"\r\x1b[K{line}" if self._live else line + "\n")

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.to.write(text)
            self.to.flush()


def _exp(loss: float) -> float:
    """Perplexity; infinite where it is too large to write."""
    return math.exp(loss) if loss < 700 else math.inf
