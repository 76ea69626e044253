"""The folder of a training run: what is in it, written so that nothing half-written is seen.

A run is of a kind, `ranker` or `summarizer`; a folder of the other kind is told apart.
"""

import pickle
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import sentencepiece
import torch

from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.runs.atomic import write_whole

SETTINGS = "settings.json"
VOCAB = "vocab.model"
LOG = "log.jsonl"
LAST, BEST = "last.pt", "best.pt"


def save_checkpoint(path: Path, kind: str, state: dict[str, Any]) -> None:
    """Write tensors and plain values as a checkpoint of a run of that kind.

    Raises OSError naming the file if the disk is full.
    """
    try:
        write_whole(path, lambda file: torch.save({"kind": kind, **state}, file))
    except RuntimeError as error:  # torch speaks so of a file that takes no more
        raise OSError(f"{path} could not be written: {error.__context__ or error}") from error


def load_checkpoint(path: Path, kind: str, device: torch.device) -> dict[str, Any]:
    """What `save_checkpoint` wrote.

    Raises FileNotFoundError if the file is absent, ValueError if it is no such file or one of
    another kind.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} holds no run of a {kind}: no {path.name}")
    if not is_zipfile(path):
        raise ValueError(f"{path} is no checkpoint")
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except (RuntimeError, pickle.UnpicklingError) as error:
        raise ValueError(f"{path} is no checkpoint") from error
    found = state.get("kind") if isinstance(state, dict) else None
    if found != kind:
        raise ValueError(f"{path} is a checkpoint of a {found or 'stranger'}, not of a {kind}")
    del state["kind"]
    return dict(state)


def load_vocab(path: Path) -> sentencepiece.SentencePieceProcessor:
    """A SentencePiece model, ready. Raises FileNotFoundError or ValueError."""
    if not path.is_file():
        raise FileNotFoundError(f"no such vocabulary: {path}")
    return load_model(path.read_bytes(), str(path))


def device_of(name: str) -> torch.device:
    """`auto` (a GPU if there is one), `cpu` or `cuda`. Raises ValueError for what is not there."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda: no GPU is to be seen here")
    has_gpu = name != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if has_gpu else "cpu")
