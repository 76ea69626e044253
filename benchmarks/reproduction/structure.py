"""The papers' comparisons at small scale: one function each, a file of JSON lines, one page.

    python -m benchmarks.reproduction pht --out out/reproduction
    python -m benchmarks.reproduction memory --out out/reproduction
    python -m benchmarks.reproduction speed --out out/reproduction
    python -m benchmarks.reproduction tables --out out/reproduction

A comparison writes its rows to OUT/NAME.jsonl; what has been trained before is not trained again.
`tables` prints all rows as Markdown for `reproduction.md`. Set OMP_NUM_THREADS=1: seconds are CPU
seconds of one thread.
"""

import argparse
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.topics import TopicSettings, write_topics
from wikisum.models.bench import BenchSettings, drawn_batch, parameter_count
from wikisum.models.decoding.beam import beam_search
from wikisum.models.evaluation.evaluate import KEYS, EvaluationSettings, evaluate
from wikisum.models.evaluation.significance import bootstrap, interval, randomisation_p, ratios
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.table import build, preset, spec_of
from wikisum.pipeline.cli import main as wikisum

Row = dict[str, Any]
SHOWN = ("rouge1", "rouge2", "rougeL", "log_perplexity", "attention_cosine")
SAMPLES = 2_000
# fused kernels keep no attention weights; those of 2020 kept all of them
KERNELS = {
    "fused": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH],
    "unfused": [SDPBackend.MATH],
}

# The paper's name of each system, the preset of its size here, and that of its size there.
PHT_SYSTEMS = {
    "FT": ("tiny-ft", "ft-pht"),
    "T-D": (None, "t-d-pht"),
    "T-DMCA": ("tiny-t-dmca", "t-dmca-pht"),
    "Transformer-XL": ("tiny-transformer-xl", "transformer-xl"),
    "HT": ("tiny", "ht-pht"),
    "PHT": ("tiny-pht", "pht"),
    "VHT": ("tiny-vht", "vht"),
}


def trained(name: str, data: Path, run: Path, args: argparse.Namespace, *flags: object) -> float:
    """Train a preset and write its test summaries to RUN.jsonl; return its CPU seconds of training.

    A run that has its summaries is not trained again.
    """
    out, seconds = run.with_suffix(".jsonl"), run / "cpu_seconds"
    if not out.exists():
        start = time.process_time()
        words = ["--width", 64, "--feedforward", 128, "--batch-tokens", 1_500, "--steps",
                 args.steps, "--validate-every", args.steps, "--device", "cpu", *flags]  # fmt: skip
        command("train", "summarizer", "--preset", name, "--data", data, "--out", run, *words)
        seconds.write_text(str(time.process_time() - start))
        command("summarize", "--run", run, "--data", data, "--split", "test", "--out", out,
                "--max-tokens", 40, "--beam", 3, "--device", "cpu")  # fmt: skip
    return float(seconds.read_text())


def command(*words: object) -> None:
    """Run a `wikisum` command in this process. Raises RuntimeError if it fails."""
    with contextlib.redirect_stdout(sys.stderr):
        status = wikisum([*map(str, words)])
    if status:
        raise RuntimeError(f"wikisum {words[0]} {words[1]} ended with status {status}")


def topics(out: Path, args: argparse.Namespace, **changes: Any) -> Path:
    """Return a learnable dataset with its facts spread over paragraphs, made unless it is there."""
    settings = TopicSettings(facts=2, distractors=3, **changes)
    data = out / f"data-{settings.place}"
    if not data.exists():
        write_topics(data, args.articles, settings, 1_000)
    return data


def pht(args: argparse.Namespace) -> Iterator[Row]:
    """Tables 1 and 2 of the PHT paper: quality and attention of flat and hierarchical models."""
    data = topics(args.out, args)
    seconds: dict[str, list[float]] = {}
    files: dict[str, list[Path]] = {}
    for seed in args.seeds:
        for system, (name, _) in PHT_SYSTEMS.items():
            if name is not None:
                run = args.out / f"{name}-{seed}"
                taken = trained(name, data, run, args, "--seed", seed)
                seconds.setdefault(system, []).append(taken)
                files.setdefault(system, []).append(run.with_suffix(".jsonl"))
    for row in scored(files, "PHT"):
        taken = seconds.get(row["system"])
        yield row | {"training_cpu_seconds": taken and statistics.mean(taken)}


def scored(files: dict[str, list[Path]], reference: str) -> Iterator[Row]:
    """Yield figures of each system, a mean over its seeds, with tests against one system.

    Intervals and tests are over examples: each example's figure is its mean over the seeds.
    """
    settings = EvaluationSettings(samples=1)
    parts = []
    for seed in range(len(files[reference])):
        evaluation, _ = evaluate([paths[seed] for paths in files.values()], None, settings,
                                 sys.stderr)  # fmt: skip
        parts.append(evaluation.parts_NK2M)
    parts_SNK2M = np.stack(parts)
    parts_NK2M = parts_SNK2M.mean(0)
    over_NKM, under_NKM = parts_NK2M[:, :, 0], parts_NK2M[:, :, 1]
    drawn_RKM = bootstrap(over_NKM, under_NKM, SAMPLES, 0)
    mine = list(files).index(reference)
    for k, system in enumerate(files):
        sums_SM = parts_SNK2M[:, :, k].sum(1)
        of_seed_SM = ratios(sums_SM[:, 0], sums_SM[:, 1])
        p_M = randomisation_p(parts_NK2M[:, k], parts_NK2M[:, mine], SAMPLES, 0)
        yield {
            "system": system,
            "examples": len(parts_NK2M),
            "seeds": len(parts),
            "figures": {
                key: {
                    "value": float(ratios(over_NKM.sum(0), under_NKM.sum(0))[k, m]),
                    "interval": interval(drawn_RKM[:, k, m]),
                    "of_seed": of_seed_SM[:, m].tolist(),
                    "p": None if k == mine else float(p_M[m]),
                }
                for m, key in enumerate(KEYS)
                if key in SHOWN and under_NKM[:, k, m].any()
            },
        }


def memory(args: argparse.Namespace) -> Iterator[Row]:
    """Table 4 of the PHT paper: parameters, and what training keeps in memory for each example.

    Models have the paper's size: 3 layers, 32,000 subwords, 1,600 source tokens. The bytes are
    those of the tensors that a forward pass keeps for the backward pass: of two examples less of
    one, since the rest does not grow with the batch.
    """
    setting = BenchSettings(target_tokens=args.target_tokens)
    for system, (_, name) in PHT_SYSTEMS.items():
        shape = preset(name).model
        form = spec_of(shape).source
        one, two = (drawn_batch(replace(setting, vocab_size=1_000), form, n) for n in (1, 2))
        model = build(replace(shape, vocab_size=1_000, dropout=0.0))
        kept = {}
        for kernel, backends in KERNELS.items():
            with sdpa_kernel(backends):
                kept[kernel] = kept_bytes(model, two) - kept_bytes(model, one)
        with torch.device("meta"):
            count = parameter_count(build(shape))
        yield {"system": system, "parameters": count, "kept_bytes": kept}


def speed(args: argparse.Namespace) -> Iterator[Row]:
    """Table 4 of the PHT paper: CPU seconds of one example at the paper's size.

    Measures a pass over an example, one with gradients, and `target_tokens` decoding steps with
    beam 5. Models take turns; times are medians of the repeats.
    """
    setting = BenchSettings(target_tokens=args.target_tokens)
    models: dict[str, tuple[SummaryModel, Batch]] = {}
    for system, (_, name) in PHT_SYSTEMS.items():
        shape = preset(name).model
        batch = drawn_batch(setting, spec_of(shape).source, 1)
        models[system] = build(replace(shape, dropout=0.0)), batch
    times: dict[str, list[list[float]]] = {system: [] for system in models}
    length = args.decoded_tokens
    search = DecodingSettings(beam=5, min_tokens=length, max_tokens=length)
    for repeat in range(args.repeats + 1):  # the first is not counted
        for system, (model, batch) in models.items():
            model.eval()
            with torch.no_grad():
                forward = cpu_seconds(partial(model, batch, 0.0))
            decoding = cpu_seconds(partial(beam_search, model, batch.source, search))
            training = cpu_seconds(partial(gradients, model.train(), batch))
            times[system] += [[forward, training, decoding]] if repeat else []
    for system, rows in times.items():
        names = "forward_seconds", "train_seconds", "decoding_seconds"
        medians = map(statistics.median, zip(*rows, strict=True))
        yield {"system": system, **dict(zip(names, medians, strict=True)), "steps": length}


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


def tables(out: Path) -> Iterator[str]:
    """Yield the rows of all comparisons as Markdown."""
    for name, columns in (("pht", _quality), ("memory", _memory), ("speed", _speed)):
        path = out / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            cells = [columns(row) for row in rows]
            yield f"\n{name}\n\n" + _pipes([list(cells[0]), *(list(c.values()) for c in cells)])


def _quality(row: Row) -> dict[str, str]:
    """Return the cells of a row of quality: value [interval] and p against the reference."""
    cells = {"system": row["system"]}
    for key in SHOWN:
        figure = row["figures"].get(key)
        scale, digits = (1, 3) if key == "log_perplexity" else (100, 1)
        if figure is None:
            cells[key] = "-"
        else:
            value, low, high = (
                f"{v * scale:.{digits}f}" for v in (figure["value"], *figure["interval"])
            )
            p = "" if figure["p"] is None else f", p {figure['p']:.4f}"
            cells[key] = f"{value} [{low}, {high}]{p}"
    seconds = row.get("training_cpu_seconds")
    return cells | {"training CPU s": f"{seconds:.0f}" if seconds else "-"}


def _memory(row: Row) -> dict[str, str]:
    kept = {f"MiB per example, {k}": f"{v / 2**20:.0f}" for k, v in row["kept_bytes"].items()}
    return {"system": row["system"], "parameters": f"{row['parameters']:,}", **kept}


def _speed(row: Row) -> dict[str, str]:
    return {
        "system": row["system"],
        "forward": f"{row['forward_seconds']:.2f}",
        "with gradients": f"{row['train_seconds']:.2f}",
        f"decoding {row['steps']} steps": f"{row['decoding_seconds']:.2f}",
    }


def _pipes(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


COMPARISONS: dict[str, Callable[[argparse.Namespace], Iterable[Row]]] = {
    "pht": pht,
    "memory": memory,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("comparison", choices=[*COMPARISONS, "tables"])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="N")
    parser.add_argument("--articles", type=int, default=1_500, metavar="N")
    parser.add_argument("--steps", type=int, default=300, metavar="N")
    parser.add_argument("--target-tokens", type=int, default=140, metavar="N")
    parser.add_argument("--decoded-tokens", type=int, default=10, metavar="N")
    parser.add_argument("--repeats", type=int, default=1, metavar="N")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.comparison == "tables":
        print("\n".join(tables(args.out)))
        return
    path = args.out / f"{args.comparison}.jsonl"
    rows = list(COMPARISONS[args.comparison](args))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
