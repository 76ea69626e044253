"""What ends a training run, explained in one line that says what to change."""

import contextlib
import re
from collections.abc import Iterator

from torch import distributed

from wikisum.ranker.training.flat_batch import TrainingBatch

_OUT_OF_MEMORY = re.compile("out of memory|allocate memory", re.IGNORECASE)


class TrainingFailed(Exception):
    """Training cannot continue; the message is one line and says what to change."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of a GPU or of the machine: torch has no single class for both."""
    return isinstance(error, MemoryError) or bool(_OUT_OF_MEMORY.search(str(error)))


@contextlib.contextmanager
def explain_out_of_memory(step: int, batch: TrainingBatch, batch_tokens: int) -> Iterator[None]:
    """Raise TrainingFailed with the size of the batch if memory runs out.

    The run ends: if one process skipped a batch, the others would wait for it forever.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise TrainingFailed(
            f"step {step}: out of memory on a batch of {batch.describe()}: lower --batch-tokens "
            f"(now {batch_tokens:,}) and raise --update-batches, or read fewer tokens per example"
        ) from error


def explain_runtime_error(error: RuntimeError) -> Exception:
    """Return TrainingFailed if a worker, a compiler or another process failed, else the error."""
    text = str(error)
    if "DataLoader worker" in text:
        return TrainingFailed(
            f"a process that prepares batches is gone ({text.splitlines()[0]}): lower "
            "--loader-workers if memory ran out"
        )
    if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        return TrainingFailed(
            f"--compile: {text.splitlines()[0]}: torch.compile needs a C++ compiler (g++, clang++) "
            "on CPUs, Triton on GPUs; train with --no-compile"
        )
    is_remote = isinstance(error, distributed.DistError) or "gloo" in text
    return TrainingFailed("another process of this training is gone") if is_remote else error
