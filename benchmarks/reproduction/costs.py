"""Parameters, memory and speed of models of the papers' size (PHT paper, table 4)."""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.reproduction.compare import Row
from wikisum.models.bench import BenchSettings, drawn_batch, parameter_count
from wikisum.models.decoding.beam import beam_search
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.table import build, preset, spec_of

PRESETS = {
    "FT": "ft-pht",
    "T-D": "t-d-pht",
    "T-DMCA": "t-dmca-pht",
    "Transformer-XL": "transformer-xl",
    "HT": "ht-pht",
    "PHT": "pht",
    "VHT": "vht",
}
TARGET_TOKENS, DECODED_TOKENS, REPEATS = 140, 10, 3
# fused kernels keep no attention weights; those of 2020 kept all of them
KERNELS = {
    "fused": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
    "unfused": [SDPBackend.MATH],
}


def memory(args: argparse.Namespace) -> Iterator[Row]:
    """Yield parameters, and what training keeps in memory for each example.

    Models have the paper's size: 3 layers, 32,000 subwords, 1,600 source tokens. The bytes are
    those of the tensors that a forward pass keeps for the backward pass: of two examples less of
    one, since the rest does not grow with the batch.
    """
    setting = BenchSettings(target_tokens=TARGET_TOKENS)
    for system, name in PRESETS.items():
        shape = preset(name).model
        form = spec_of(shape).source
        one, two = (drawn_batch(replace(setting, vocab_size=1_000), form, n) for n in (1, 2))
        model = build(replace(shape, vocab_size=1_000, dropout=0.0))
        kept = {}
        for kernel, backends in KERNELS.items():
            with sdpa_kernel(backends):
                size = kept_bytes(model, two) - kept_bytes(model, one)
                kept[f"MiB per example, {kernel}"] = round(size / 2**20)
        with torch.device("meta"):
            count = parameter_count(build(shape))
        yield {"system": system, "parameters": count, **kept}


def speed(args: argparse.Namespace) -> Iterator[Row]:
    """Yield CPU seconds of one example: a pass, one with gradients, and decoding with beam 5.

    Models take turns; times are medians of the repeats.
    """
    setting = BenchSettings(target_tokens=TARGET_TOKENS)
    models: dict[str, tuple[SummaryModel, Batch]] = {}
    for system, name in PRESETS.items():
        shape = preset(name).model
        batch = drawn_batch(setting, spec_of(shape).source, 1)
        models[system] = build(replace(shape, dropout=0.0)), batch
    times: dict[str, list[list[float]]] = {system: [] for system in models}
    search = DecodingSettings(beam=5, min_tokens=DECODED_TOKENS, max_tokens=DECODED_TOKENS)
    for repeat in range(REPEATS + 1):  # the first is not counted
        for system, (model, batch) in models.items():
            model.eval()
            with torch.no_grad():
                forward = cpu_seconds(partial(model, batch, 0.0))
            decoding = cpu_seconds(partial(beam_search, model, batch.source, search))
            training = cpu_seconds(partial(gradients, model.train(), batch))
            times[system] += [[forward, training, decoding]] if repeat else []
    names = "forward", "with gradients", f"decoding {DECODED_TOKENS} steps"
    for system, rows in times.items():
        medians = map(statistics.median, zip(*rows, strict=True))
        yield {"system": system, **dict(zip(names, medians, strict=True))}


def gradients(model: SummaryModel, batch: Batch) -> None:
    """Compute the gradients of a batch."""
    model(batch, 0.0).total.backward()
    model.zero_grad()


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one run."""
    start = time.process_time()
    work()
    return time.process_time() - start


def kept_bytes(model: SummaryModel, batch: Batch) -> int:
    """Return the bytes that a forward pass keeps for its backward pass, parameters not counted."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes: dict[int, int] = {}
    held = []  # so that no address is used twice

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            sizes[storage.data_ptr()] = storage.nbytes()
            held.append(storage)
        return tensor

    model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(batch, 0.0)
    return sum(sizes.values())
