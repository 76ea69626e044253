"""How much each model costs at the same setting (the efficiency table of the PHT paper).

Drawn examples, all alike: what is measured does not hang on any dataset. Times are medians.
"""

import contextlib
import copy
import gc
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from wikisum.models.configs import PRESETS
from wikisum.models.data.batches import Batch, collate
from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.settings import SearchSettings
from wikisum.models.flops import training_flops
from wikisum.models.network.summarizer import Summarizer, parameter_count
from wikisum.models.training.curve import peak_memory_bytes
from wikisum.models.training.train import Model, is_out_of_memory

FIRST_TEXT_ID = 6


@dataclass(frozen=True)
class BenchSettings:
    """The setting that all models share; the paper's is 1,600 source tokens."""

    presets: tuple[str, ...] = ("ft-paper", "ht-paper")
    vocab_size: int = 32_000
    source_tokens: int = 1_600
    paragraph_tokens: int = 100
    target_tokens: int = 140
    beam: int = 5
    max_examples: int = 64
    repeats: int = 3

    def __post_init__(self) -> None:
        for name in self.presets:
            if name not in PRESETS:
                raise ValueError(f"--presets: no {name!r}: one of {', '.join(PRESETS)}")
        for name, value in vars(self).items():
            if isinstance(value, int) and value < 1:
                raise ValueError(f"--{name.replace('_', '-')} must be over 0, not {value}")


class Cost(NamedTuple):
    """A row of the table; `examples` is the largest batch tried that fitted in memory.

    Operations are those that the model needs (`models/flops.py`): over the machine's peak they are
    its utilisation.
    """

    preset: str
    parameters: int
    examples: int
    train_tokens_per_second: float
    train_flops_per_second: float
    seconds_per_summary: float
    peak_bytes: int


def paragraph_lengths(settings: BenchSettings, model: str) -> list[int]:
    """The lengths of an example's paragraphs; a flat model's source is one."""
    step = settings.source_tokens if model == "ft" else settings.paragraph_tokens
    starts = range(0, settings.source_tokens, step)
    return [min(step, settings.source_tokens - start) for start in starts]


def drawn_batch(settings: BenchSettings, model: str, examples: int) -> Batch:
    """Examples of exactly the setting's lengths, with ids drawn at random."""
    rng = np.random.default_rng(0)

    def draw(count: int) -> np.ndarray:
        return rng.integers(FIRST_TEXT_ID, settings.vocab_size, count).astype(np.uint16)

    lengths = paragraph_lengths(settings, model)
    sources = [[draw(n) for n in lengths] for _ in range(examples)]
    leads = [draw(settings.target_tokens) for _ in range(examples)]
    return collate(sources, leads, range(examples))


def costs(settings: BenchSettings, device: torch.device) -> Iterator[Cost]:
    """The rows of the table, one a preset."""
    for preset in settings.presets:
        _forget_peak_memory(device)
        shape = replace(PRESETS[preset].model, vocab_size=settings.vocab_size)
        torch.manual_seed(0)
        model = Summarizer(shape).to(device)
        examples, seconds = _largest_batch(model, settings, device)
        lengths = paragraph_lengths(settings, shape.model)
        flops = training_flops(shape, [lengths], [settings.target_tokens + 1])
        tokens = settings.source_tokens + settings.target_tokens + 1
        yield Cost(
            preset,
            parameter_count(model),
            examples,
            examples * tokens / seconds,
            examples * flops / seconds,
            _decoding_seconds(model, settings, device, examples),
            peak_memory_bytes(device),
        )


def _forget_peak_memory(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    else:  # Linux; elsewhere a row's peak is that of all rows so far
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def _largest_batch(
    summarizer: Summarizer, settings: BenchSettings, device: torch.device
) -> tuple[int, float]:
    """(the largest power of two that trains without running out of memory, seconds a step)."""
    model = Model(summarizer, 0.1).train()
    optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
    examples, fitted, taken = 1, 0, 0.0
    while examples <= settings.max_examples:
        batch = drawn_batch(settings, summarizer.settings.model, examples).to(device)
        try:
            seconds = median_seconds(
                lambda batch=batch: train_step(model, optimizer, batch),  # type: ignore[misc]
                settings.repeats,
                device,
            )
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            optimizer.zero_grad()
            break
        fitted, taken = examples, seconds
        examples *= 2
    if not fitted:
        raise ValueError("not even one example fits in memory: lower --source-tokens")
    return fitted, taken


def _decoding_seconds(
    model: Summarizer, settings: BenchSettings, device: torch.device, examples: int
) -> float:
    """Seconds a summary of exactly the target's length, in batches of that size, bf16 on a GPU."""
    model = copy.deepcopy(model).eval()
    if device.type == "cuda":
        model = model.to(torch.bfloat16)
    length = settings.target_tokens
    search = SearchSettings(beam=settings.beam, min_tokens=length, max_tokens=length)
    batch = drawn_batch(settings, model.settings.model, examples).to(device)
    seconds = median_seconds(lambda: beam_search(model, batch.source, search), 1, device)
    return seconds / examples


def train_step(
    model: Model, optimizer: torch.optim.Optimizer, batch: Batch, half: bool = False
) -> None:
    """One update on a batch, in bf16 on a GPU or if `half`."""
    kind = batch.target_BS.device.type
    with torch.autocast(kind, torch.bfloat16, enabled=half or kind == "cuda"):
        loss = model(batch).smoothed / batch.label_slot_Y.numel()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def token_count(batch: Batch) -> int:
    """Real tokens of source and target."""
    return batch.source.id_N.numel() + batch.label_slot_Y.numel()


def median_seconds(work: Callable[[], object], repeats: int, device: torch.device) -> float:
    """The median time of some runs, after one that is not counted."""

    def timed() -> float:
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    timed()
    return statistics.median(timed() for _ in range(repeats))


def table(rows: Sequence[Cost]) -> str:
    """The rows as text."""
    names = "parameters", "examples", "tokens/s", "TFLOP/s", "s/summary", "GiB"
    head = f"{'model':<12}" + "".join(
        f"{n:>{w}}" for n, w in zip(names, (14, 10, 12, 10, 12, 8), strict=True)
    )
    lines = [
        f"{r.preset:<12}{r.parameters:>14,}{r.examples:>10}{r.train_tokens_per_second:>12,.0f}"
        f"{r.train_flops_per_second / 1e12:>10.3f}"
        f"{r.seconds_per_summary:>12.3f}{r.peak_bytes / 2**30:>8.2f}"
        for r in rows
    ]
    return "\n".join([head, *lines]) + "\n"


def machine_of(device: torch.device) -> dict[str, object]:
    """What the figures were measured on."""
    is_gpu = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if is_gpu else platform.machine()
    return {"device": name, "threads": torch.get_num_threads(), "torch": torch.__version__}
