"""Checkpoints of training runs, rankers' and summarizers': safetensors files, never half-written.

A checkpoint holds tensors under dotted names (`model.embedding.weight`) and, as JSON in the file's
metadata, everything else. Nothing is unpickled.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import sentencepiece
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.paths import is_remote
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.runs.atomic import atomic_write, write_json
from wikisum.ranker.runs.files import LAST, SETTINGS, VOCAB

_TENSOR, _ITEMS = "__tensor__", "__items__"


def save_checkpoint(path: Path, kind: str, state: dict[str, Any]) -> None:
    """Write a checkpoint of a run of a kind, `ranker` or `summarizer`.

    `state` nests dictionaries and lists of tensors and plain values. Raises OSError naming the
    file if it cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    values = json.dumps(_without_tensors(state, "", tensors, set()))
    metadata = {"kind": kind, "values": values}
    try:
        atomic_write(path, lambda file: save_file(tensors, file.name, metadata))
    except (OSError, SafetensorError) as error:
        raise OSError(f"{path} could not be written: {error}") from error


def load_checkpoint(path: Path, kind: str, device: torch.device) -> dict[str, Any]:
    """Return what `save_checkpoint` wrote.

    Raises FileNotFoundError if the file does not exist, BadFile if it is damaged or lacks settings
    or weights, ValueError if it belongs to a run of another kind or of a version that still wrote
    pickled files.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} holds no run of a {kind}: no {path.name}")
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise BadFile(f"{path} is not a checkpoint: {error}") from error
    if metadata.get("kind") != kind:
        found = metadata.get("kind", "different program")
        raise ValueError(f"{path} is a checkpoint of a {found}, not of a {kind}")
    try:
        state = _with_tensors(json.loads(metadata["values"]), tensors)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(f"{path} is not a checkpoint: its values are damaged: {error}") from error
    for name in ("settings", "model"):
        if not isinstance(state, dict) or not isinstance(state.get(name), dict):
            raise BadFile(f"{path} is not a checkpoint: it has no {name}")
    return cast(dict[str, Any], state)


def check_weights(path: Path, model: nn.Module, weights: Mapping[str, Any]) -> None:
    """Raise BadFile naming a tensor of `path` that the model lacks or needs, or of wrong values."""
    needed = model.state_dict()
    for name in [*needed, *(name for name in weights if name not in needed)]:
        fault = _weight_fault(needed.get(name), weights.get(name))
        if fault is not None:
            raise BadFile(f"{path}: the weight {name} {fault}")


def _weight_fault(needed: Tensor | None, found: Any) -> str | None:
    if needed is None:
        return "is of another model"
    if not isinstance(found, Tensor):
        return "is missing"
    if found.shape != needed.shape:
        return f"has the shape {list(found.shape)}, not {list(needed.shape)}"
    if not bool(torch.isfinite(found).all()):
        return "holds NaN or infinite values"
    return None


def has_checkpoint(run: Path) -> bool:
    """Whether a run can be resumed."""
    return (run / LAST).is_file()


def check_vocab(run: Path, vocab: bytes, data: str) -> None:
    """Raise ValueError if the folder holds a run that was trained with another vocabulary."""
    if has_checkpoint(run) and (run / VOCAB).read_bytes() != vocab:
        raise ValueError(f"{data} has another vocabulary than {run} was trained with")


def create_run(run: Path, settings: Mapping[str, Any], vocab: bytes, data: str | None) -> None:
    """Create the folder of a run, with its settings, its vocabulary and the path of its data.

    `data` is None for weights that were converted.
    """
    run.mkdir(parents=True, exist_ok=True)
    atomic_write(run / VOCAB, lambda file: file.write(vocab))
    where = data if data is None or is_remote(data) else str(Path(data).resolve())
    write_json(run / SETTINGS, {"data": where, **settings})


def _without_tensors(value: Any, name: str, tensors: dict[str, Tensor], addresses: set[int]) -> Any:
    """Return the value as JSON; its tensors go to `tensors` and leave their names behind.

    `addresses` are those of the tensors that are not empty.
    """
    if isinstance(value, Tensor):
        tensor = value.detach().contiguous()
        if tensor.data_ptr() in addresses:  # safetensors refuses shared memory, as of tied weights
            tensor = tensor.clone()
        if tensor.numel():
            addresses.add(tensor.data_ptr())
        tensors[name] = tensor
        return {_TENSOR: name}
    if isinstance(value, dict):
        items = [(k, _without_tensors(v, f"{name}.{k}".lstrip("."), tensors, addresses))
                 for k, v in value.items()]  # fmt: skip
        # JSON has string keys only; an optimizer's state has numbers
        return dict(items) if all(isinstance(k, str) for k in value) else {_ITEMS: items}
    if isinstance(value, list | tuple):
        return [_without_tensors(v, f"{name}.{i}", tensors, addresses) for i, v in enumerate(value)]
    return value


def _with_tensors(value: Any, tensors: dict[str, Tensor]) -> Any:
    """Undo `_without_tensors`."""
    if isinstance(value, dict):
        if _TENSOR in value:
            return tensors[value[_TENSOR]]
        items = value.get(_ITEMS, value.items())
        return {key: _with_tensors(v, tensors) for key, v in items}
    if isinstance(value, list):
        return [_with_tensors(v, tensors) for v in value]
    return value


def load_vocab(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Return the SentencePiece model in a file. Raises FileNotFoundError or ValueError."""
    if not path.is_file():
        raise FileNotFoundError(f"no such vocabulary: {path}")
    return load_model(path.read_bytes(), str(path))


def device_of(name: str) -> torch.device:
    """Return the device `auto` (a GPU if there is one), `cpu` or `cuda`. Raises ValueError."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda: CUDA is not available")
    has_gpu = name != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if has_gpu else "cpu")
