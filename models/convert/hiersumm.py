"""Checkpoints of the code released with Liu & Lapata 2019 (hiersumm), as runs of this project.

Such a file is a pickled dictionary: `model` holds the weights, `opt` the parsed command line as an
argparse.Namespace, `optim` the state of the optimizer. It is read by torch with `weights_only`, so
that nothing in it is executed.
"""

import argparse
import dataclasses
import pickle
import re
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.convert.vocabulary import reordered
from wikisum.models.network.hierarchical_transformer import GLOBAL, LOCAL, HierarchicalSettings
from wikisum.models.settings.run import RunSettings
from wikisum.models.table import build, preset, to_json
from wikisum.models.training.checkpoints import KIND, Weights
from wikisum.ranker.runs.checkpoints import create_run, save_checkpoint
from wikisum.ranker.runs.files import LAST

# their names of padding, unknown, begin, end, end of title and end of paragraph, in our order
SPECIAL = ("<PAD>", None, "<S>", "</S>", "<T>", "<P>")
_TABLES = ("encoder.embeddings.weight", "decoder.embeddings.weight", "generator.0.weight")
_BUFFERS = re.compile(r"(encoder|decoder)\.pos_emb\.pe|decoder\.transformer_layers\.\d+\.mask")
_STEP = re.compile(r"model_step_(\d+)")

_ATTENTION = {
    "query": "linear_query", "key": "linear_keys", "value": "linear_values",
    "output": "final_linear",
}  # fmt: skip
_FEEDFORWARD = {
    "feedforward.0": "feed_forward.w_1",
    "feedforward.3": "feed_forward.w_2",
    "to_feedforward.norm": "feed_forward.layer_norm",
}
_LOCAL_LAYER = {
    **{f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    "to_attention.norm": "layer_norm",
    **_FEEDFORWARD,
}
_GLOBAL_LAYER = {
    "norm": "layer_norm1",
    "pooling.score": "pooling.linear_keys",
    "pooling.value": "pooling.linear_values",
    "pooling.norm.0": "layer_norm2",
    "fuse": "linear",
    **_FEEDFORWARD,
}
_DECODER_LAYER = {
    **{f"self_attention.{ours}": f"self_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    **{f"cross_attention.{ours}": f"context_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    "to_self.norm": "layer_norm_1",
    "to_cross.norm": "layer_norm_2",
    **_FEEDFORWARD,
}


class BadCheckpoint(Exception):
    """A file is not a checkpoint that can be converted; the message says why, without its name."""


class Checkpoint(NamedTuple):
    """The parts of a checkpoint that are needed."""

    weights: Weights
    options: argparse.Namespace
    step: int


def convert(path: Path, vocab: bytes, vocab_name: str, out: Path, data: str | None) -> RunSettings:
    """Write a run with the weights of a checkpoint and its vocabulary; return its settings.

    Raises BadCheckpoint for a file that cannot be converted, ValueError for a vocabulary that does
    not fit.
    """
    checkpoint = read_checkpoint(path)
    model, order = reordered(vocab, vocab_name, SPECIAL)
    settings = run_settings(checkpoint)
    if settings.model.vocab_size != len(order):
        raise ValueError(
            f"{vocab_name} has {len(order):,} subwords, but {path} has "
            f"{settings.model.vocab_size:,}"
        )
    weights = converted_weights(checkpoint, settings.model, order)
    state = {"settings": to_json(settings), "model": weights, "step": checkpoint.step}
    create_run(out, to_json(settings), model, data)
    save_checkpoint(out / LAST, KIND, state)
    return settings


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the content of a file. Raises BadCheckpoint if it is not one of their checkpoints."""
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if foreign := re.search(r"GLOBAL (\S+)", str(error)):
            raise BadCheckpoint(f"holds an object of {foreign[1]}, which is not read") from error
        raise BadCheckpoint("is not a checkpoint of torch") from error
    except (RuntimeError, EOFError, ValueError, KeyError) as error:
        raise BadCheckpoint("is not a checkpoint of torch") from error
    parts = found if isinstance(found, dict) else {}
    weights, options = parts.get("model"), parts.get("opt")
    if not isinstance(weights, dict) or not isinstance(options, argparse.Namespace):
        raise BadCheckpoint("has no `model` and `opt`, as checkpoints of hiersumm have")
    # as their code does: names of layer normalization in older versions
    renamed = {
        name.replace("a_2", "weight").replace("b_2", "bias"): tensor
        for name, tensor in weights.items()
    }
    step = _STEP.search(path.name)
    return Checkpoint(renamed, options, int(step[1]) if step else 0)


def run_settings(checkpoint: Checkpoint) -> RunSettings:
    """Return the settings of the run: sizes from the weights, the rest from the options.

    What the file does not say (learning rate, decoding, ...) is that of the preset `ht-readme`.
    """
    weights, options = checkpoint.weights, checkpoint.options
    encoder, decoder = (_layers(weights, part) for part in ("encoder", "decoder"))
    if not encoder or not getattr(options, "hier", True):
        raise BadCheckpoint("is not a hierarchical model, which alone can be converted")
    base = preset("ht-readme")
    pooling = [weights.get(f"{layer}.pooling.linear_keys.weight") for layer in encoder]
    heads = {len(scores) for scores in pooling if scores is not None}
    table = _tensor(weights, _TABLES[0])
    dropout = getattr(options, "enc_dropout", 0.1)
    dropout = dropout if 0 <= dropout < 1 else 0.1
    model = dataclasses.replace(
        base.model,
        vocab_size=len(table),
        width=table.shape[1],
        feedforward=len(_tensor(weights, f"{encoder[0]}.feed_forward.w_1.weight")),
        heads=int(_option(options, "heads")),
        layers="".join(LOCAL if scores is None else GLOBAL for scores in pooling),
        decoder_layers=len(decoder),
        pooling_heads=min(heads, default=None),
        dropout=dropout,
        attention_dropout=dropout,
    )
    source = dataclasses.replace(
        base.source, max_paragraphs=int(_option(options, "trunc_src_nblock"))
    )
    return dataclasses.replace(base, model=model, source=source)


def converted_weights(
    checkpoint: Checkpoint, settings: HierarchicalSettings, order: list[int]
) -> Weights:
    """Return the weights under our names, rows of subwords in a new order.

    Raises BadCheckpoint if one is missing, has another shape, or is left over.
    """
    left = {n: t for n, t in checkpoint.weights.items() if not _BUFFERS.fullmatch(n)}
    tables = [_taken(left, name) for name in _TABLES]
    if any(not torch.equal(table, tables[0]) for table in tables[1:]):
        raise BadCheckpoint("encoder, decoder and output do not share one embedding table")
    found = {
        "embedding.weight": tables[0][order],
        "output_bias": _taken(left, "generator.0.bias")[order],
    }
    for number, kind in enumerate(settings.layers):
        ours, theirs = f"encoder.layers.{number}", f"encoder.transformer_layers.{number}"
        names = _GLOBAL_LAYER if kind == GLOBAL else _LOCAL_LAYER
        found |= _renamed(left, names, ours, theirs)
        if kind == GLOBAL:
            found |= _projections(left, ours, theirs)
    for number in range(settings.decoder_layers):
        theirs = f"decoder.transformer_layers.{number}"
        found |= _renamed(left, _DECODER_LAYER, f"decoder.{number}", theirs)
    for part in ("encoder", "decoder"):
        found |= _renamed(left, {f"{part}_norm": "layer_norm"}, "", part)
    if left:
        raise BadCheckpoint(f"has the weights {min(left)}, which no model here has")
    expected = {name: tensor.shape for name, tensor in build(settings).state_dict().items()}
    for name, tensor in found.items():
        if tensor.shape != expected[name]:
            shapes = [tuple(tensor.shape), tuple(expected[name])]
            raise BadCheckpoint(f"{name} has the shape {shapes[0]}, not {shapes[1]}")
    return {name: tensor.float().contiguous() for name, tensor in found.items()}


def _renamed(left: Weights, names: dict[str, str], ours: str, theirs: str) -> dict[str, Tensor]:
    """Take the weights and biases of some modules out of `left`."""
    return {
        ".".join(filter(None, (ours, mine, kind))): _taken(left, f"{theirs}.{name}.{kind}")
        for mine, name in names.items()
        for kind in ("weight", "bias")
    }


def _projections(left: Weights, ours: str, theirs: str) -> dict[str, Tensor]:
    """Take queries, keys and values between paragraphs, which are one parameter here."""
    names = ("linear_query", "linear_keys", "linear_values")
    weight, bias = (
        torch.cat([_taken(left, f"{theirs}.inter_att.{name}.{kind}") for name in names])
        for kind in ("weight", "bias")
    )
    return {f"{ours}.attention.weight": weight[None], f"{ours}.attention.bias": bias}


def _layers(weights: Weights, part: str) -> list[str]:
    """Return the names of the layers of the encoder or decoder, in their order."""
    pattern = re.compile(rf"({part}\.transformer_layers\.(\d+))\.")
    found = {int(m[2]): m[1] for m in map(pattern.match, weights) if m}
    return [found[number] for number in sorted(found)]


def _taken(left: Weights, name: str) -> Tensor:
    tensor = _tensor(left, name)
    del left[name]
    return tensor


def _tensor(weights: Weights, name: str) -> Tensor:
    if not isinstance(weights.get(name), Tensor):
        raise BadCheckpoint(f"has no weights {name}")
    return weights[name]


def _option(options: argparse.Namespace, name: str) -> Any:
    if not hasattr(options, name):
        raise BadCheckpoint(f"its options have no {name}")
    return getattr(options, name)
