"""The folder of a training run, and which of its weights to use.

settings.json   all settings             vocab.model     the vocabulary
last.pt         everything to go on      best/step-*.pt  weights of the best validations
log.jsonl       the curve                events.*        the same, for TensorBoard
lengths-*.npz   of the splits, kept
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.configs import RunSettings, from_json, to_json
from wikisum.ranker.runs.atomic import write_json, write_whole
from wikisum.ranker.runs.checkpoints import LAST, SETTINGS, VOCAB, load_checkpoint, save_checkpoint
from wikisum.ranker.runs.training_log import read_log

KIND = "summarizer"
BEST_FOLDER = "best"
AVERAGE, BEST_ONE, LAST_ONE = "average", "best", "last"

Weights = dict[str, Tensor]


class Best(NamedTuple):
    """A validation that is among the best: nats a subword, and the step."""

    loss: float
    step: int


class Chosen(NamedTuple):
    """Weights to decode with; `fingerprint` stands for them, 16 hex digits."""

    name: str
    settings: RunSettings
    weights: Weights
    fingerprint: str


def best_path(run: Path, step: int) -> Path:
    """The file of the weights after a step."""
    return run / BEST_FOLDER / f"step-{step:08}.pt"


def save_progress(run: Path, settings: RunSettings, state: dict[str, Any]) -> None:
    """Write all that is needed to go on as if nothing had happened."""
    save_checkpoint(run / LAST, KIND, {"settings": to_json(settings), **state})


def load_progress(run: Path, device: torch.device) -> dict[str, Any]:
    """What `save_progress` wrote."""
    return load_checkpoint(run / LAST, KIND, device)


def validations(run: Path) -> list[Best]:
    """All validations that the log tells of, in their order."""
    rows = (row for row in read_log(run) if "validation_loss" in row)
    return [Best(row["validation_loss"], row["step"]) for row in rows]


def best_of(run: Path, keep: int | None = None) -> list[Best]:
    """The best validations whose weights are there, best first."""
    there = (best for best in validations(run) if best_path(run, best.step).is_file())
    return sorted(there)[:keep]


def save_best(run: Path, settings: RunSettings, weights: Weights, new: Best, keep: int) -> None:
    """Write the weights of a validation, if it is among the best; the log tells of it later."""
    if new in sorted([*best_of(run), new])[:keep]:
        path = best_path(run, new.step)
        path.parent.mkdir(exist_ok=True)
        state = {"settings": to_json(settings), "model": weights, "step": new.step}
        save_checkpoint(path, KIND, state)


def forget_others(run: Path, best: Sequence[Best]) -> None:
    """Delete the weights of steps that are not among the best."""
    kept = {best_path(run, b.step) for b in best}
    for path in (run / BEST_FOLDER).glob("step-*.pt"):
        if path not in kept:
            path.unlink()


def averaged(all_weights: Sequence[Weights]) -> Weights:
    """The mean of each tensor over some checkpoints."""
    return {
        name: torch.stack([w[name].float() for w in all_weights]).mean(0).to(tensor.dtype)
        for name, tensor in all_weights[0].items()
    }


def choose(run: Path, checkpoint: str) -> Chosen:
    """The weights of a run: `best`, `last`, `average` (of the best kept) or a step's number.

    Raises FileNotFoundError for a folder without them, ValueError for another name.
    """
    cpu = torch.device("cpu")
    if checkpoint == LAST_ONE:
        state = load_progress(run, cpu)
        return _chosen(f"step {state['step']}", state["settings"], state["model"])
    if checkpoint not in (AVERAGE, BEST_ONE) and not checkpoint.isdecimal():
        raise ValueError(f"--checkpoint must be best, last, average or a step, not {checkpoint!r}")
    if checkpoint == BEST_ONE:
        steps = best_steps(run)[:1]
    elif checkpoint == AVERAGE:
        steps = best_steps(run)
    else:
        steps = [int(checkpoint)]
        if steps[0] not in (there := sorted(best_steps(run))):
            has = ", ".join(map(str, there))
            raise ValueError(f"--checkpoint {checkpoint}: {run} has weights of steps {has}")
    states = [load_checkpoint(best_path(run, step), KIND, cpu) for step in steps]
    weights = averaged([state["model"] for state in states])
    name = ", ".join(map(str, steps))
    return _chosen(f"step {name}", states[0]["settings"], weights)


def best_steps(run: Path) -> list[int]:
    """The steps of the best validations, best first. Raises FileNotFoundError if there is none."""
    if not (run / LAST).is_file():
        raise FileNotFoundError(f"{run} holds no run of a {KIND}: no {LAST}")
    steps = [best.step for best in best_of(run)]
    if not steps:
        raise FileNotFoundError(f"{run} has no validated weights: take --checkpoint last")
    return steps


def _chosen(name: str, settings: dict[str, Any], weights: Weights) -> Chosen:
    digest = hashlib.sha256()
    for key in sorted(weights):
        digest.update(key.encode())
        digest.update(weights[key].contiguous().numpy().tobytes())
    return Chosen(name, from_json(settings), weights, digest.hexdigest()[:16])


def check_vocab(run: Path, vocab: bytes, data: str) -> None:
    """Raises ValueError if a run lies there that has not learned the subwords of the data."""
    if (run / LAST).exists() and vocab_path(run).read_bytes() != vocab:
        raise ValueError(f"{data} has another vocabulary than {run} was trained with")


def prepare_run(run: Path, settings: RunSettings, vocab: bytes, data: str) -> None:
    """Make the folder of a run, with its settings, its vocabulary and where its data lies."""
    run.mkdir(parents=True, exist_ok=True)
    write_whole(vocab_path(run), lambda file: file.write(vocab))
    where = data if "://" in data else str(Path(data).resolve())
    write_json(run / SETTINGS, {"data": where, **to_json(settings)})


def data_of(run: Path) -> str:
    """The dataset that a run was trained on. Raises FileNotFoundError for a folder of no run."""
    path = run / SETTINGS
    if not path.is_file():
        raise FileNotFoundError(f"{run} holds no run of a {KIND}: no {SETTINGS}")
    return str(json.loads(path.read_text())["data"])


def vocab_path(run: Path) -> Path:
    """The vocabulary of a run."""
    return run / VOCAB
