"""The folder of a training run, and which of its weights to use.

settings.json             all settings
vocab.model               the vocabulary
last.safetensors          everything needed to resume
best/step-*.safetensors   weights of the best validations
log.jsonl, events.*       the log, and the same for TensorBoard
lengths-*.npz             cached lengths of the examples of each split
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.settings.run import RunSettings
from wikisum.models.table import from_json, to_json
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs.atomic import read_json_object
from wikisum.ranker.runs.checkpoints import (
    create_run,
    has_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from wikisum.ranker.runs.files import LAST, SETTINGS
from wikisum.ranker.runs.training_log import read_log

KIND = "summarizer"
BEST_FOLDER = "best"
AVERAGE, BEST_ONE, LAST_ONE = "average", "best", "last"

Weights = dict[str, Tensor]


class Best(NamedTuple):
    """One of the best validations: nats per subword, and the step."""

    loss: float
    step: int


class ChosenWeights(NamedTuple):
    """Weights to decode with; `fingerprint` is a hash of them, 16 hex digits."""

    name: str
    settings: RunSettings
    weights: Weights
    fingerprint: str


def best_path(run: Path, step: int) -> Path:
    """Return the file of the weights after a step."""
    return run / BEST_FOLDER / f"step-{step:08}.safetensors"


def validations(run: Path) -> list[Best]:
    """Return all validations in the log, in their order."""
    rows = (row for row in read_log(run) if "validation_loss" in row)
    return [Best(row["validation_loss"], row["step"]) for row in rows]


def best_of(run: Path, keep: int | None = None) -> list[Best]:
    """Return the best validations whose weights are on disk, best first."""
    there = (best for best in validations(run) if best_path(run, best.step).is_file())
    return sorted(there)[:keep]


def save_best(run: Path, settings: RunSettings, weights: Weights, new: Best, keep: int) -> None:
    """Write the weights of a validation that is among the best; its row in the log comes later."""
    if new in sorted([*best_of(run), new])[:keep]:
        path = best_path(run, new.step)
        path.parent.mkdir(exist_ok=True)
        state = {"settings": to_json(settings), "model": weights, "step": new.step}
        save_checkpoint(path, KIND, state)


def delete_others(run: Path, best: Sequence[Best]) -> None:
    """Delete the weights of all steps that are not among the best."""
    kept = {best_path(run, b.step) for b in best}
    for path in (run / BEST_FOLDER).glob("step-*.safetensors"):
        if path not in kept:
            path.unlink()


def averaged(all_weights: Sequence[Weights]) -> Weights:
    """Return the mean of each tensor over some checkpoints."""
    return {
        name: torch.stack([w[name].float() for w in all_weights]).mean(0).to(tensor.dtype)
        for name, tensor in all_weights[0].items()
    }


def choose(run: Path, checkpoint: str) -> ChosenWeights:
    """Return the weights of a run: `best`, `last`, `average` (of the best kept) or those of a step.

    Raises FileNotFoundError for a folder without them, ValueError for another name.
    """
    cpu = torch.device("cpu")
    if checkpoint == LAST_ONE:
        state = load_checkpoint(run / LAST, KIND, cpu)
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
    try:
        weights = averaged([state["model"] for state in states])
    except (KeyError, AttributeError, RuntimeError) as error:
        cause = str(error).partition("\n")[0]
        raise BadFile(f"the weights in {run / BEST_FOLDER} are not one model's: {cause}") from error
    name = ", ".join(map(str, steps))
    return _chosen(f"step {name}", states[0]["settings"], weights)


def best_steps(run: Path) -> list[int]:
    """Return the steps of the best validations, best first.

    Raises FileNotFoundError if there are none.
    """
    if not has_checkpoint(run):
        raise FileNotFoundError(f"{run} holds no run of a {KIND}: no {LAST}")
    steps = [best.step for best in best_of(run)]
    if not steps:
        raise FileNotFoundError(f"{run} has no validated weights: use --checkpoint last")
    return steps


def _chosen(name: str, settings: dict[str, Any], weights: Weights) -> ChosenWeights:
    digest = hashlib.sha256()
    for key in sorted(weights):
        digest.update(key.encode())
        if not isinstance(weights[key], Tensor):
            raise BadFile(f"the weight {key} of {name} is not a tensor")
        digest.update(weights[key].contiguous().numpy().tobytes())
    try:
        plain = from_json(settings)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"the settings of {name} are not a summarizer's: {error}") from error
    return ChosenWeights(name, plain, weights, digest.hexdigest()[:16])


def prepare_run(run: Path, settings: RunSettings, vocab: bytes, data: str) -> None:
    """Create the folder of a run, with its settings, its vocabulary and the path of its data."""
    create_run(run, to_json(settings), vocab, data)


def data_of(run: Path) -> str:
    """Return the dataset of a run.

    Raises FileNotFoundError if the folder holds no run, or one that names no dataset; BadFile for
    damaged settings.
    """
    path = run / SETTINGS
    if not path.is_file():
        raise FileNotFoundError(f"{run} holds no run of a {KIND}: no {SETTINGS}")
    settings = read_json_object(path)
    data = settings.get("data", 0)  # null for a run that was converted
    if data is None:
        raise FileNotFoundError(f"{run} was converted and names no dataset: choose one with --data")
    if not isinstance(data, str):
        raise BadFile(f"{path} names no dataset: its data must be a path")
    return data
