"""A run of the flat transformer as a folder that AutoModelForSeq2SeqLM of transformers reads.

PEGASUS has the same layers as the flat transformer with the norm before each sublayer: sinusoidal
positions, a norm at the end of both stacks, ReLU, one table of embeddings. Three things differ.

* Its norms add 1e-5 to the variance, ours 1e-6. A norm of c x with epsilon c^2 e is exactly that of
  x with epsilon e. So embeddings, positions, and all that is added to them are multiplied by
  c = sqrt(10), and the last norm of the decoder is divided by c where logits use the table.
* Its positions have all sines before all cosines. They are stored with the weights, so ours take
  their place.
* Its projections always have biases, and its logits too: without ours, they are zero.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wikisum.models.convert.fast_tokenizer import fast_tokenizer
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.layers import NORM_EPSILON
from wikisum.models.network.positions import sinusoids
from wikisum.models.settings.run import RunSettings
from wikisum.models.training.checkpoints import Weights, choose
from wikisum.models.vocabulary.pretrained import load_transformers
from wikisum.ranker.data.vocab import BEGIN, END, PAD
from wikisum.ranker.runs.atomic import new_folder
from wikisum.ranker.runs.files import VOCAB

PEGASUS_EPSILON = 1e-5
GROWTH = math.sqrt(PEGASUS_EPSILON / NORM_EPSILON)
_ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
_NO_EQUAL = "no sequence-to-sequence model of transformers computes the same"


def to_transformers(run: Path, out: Path, checkpoint: str = "best") -> None:
    """Write the weights and the vocabulary of a run into the new folder `out`.

    Raises FileExistsError if `out` exists, FileNotFoundError if there is no run, ValueError for a
    model that has no equal among those of transformers.
    """
    chosen = choose(run, checkpoint)
    check_exportable(chosen.settings.model, str(run))
    network = pegasus(chosen.settings, chosen.weights)
    tokenizer = fast_tokenizer((run / VOCAB).read_bytes())
    with new_folder(out) as folder:
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def check_exportable(model: Any, name: str) -> None:
    """Raise ValueError unless PEGASUS computes the same as a model with these settings."""
    if type(model) is not FlatSettings:  # there are models with more settings
        raise ValueError(f"{name} is not a flat transformer (ft): {_NO_EQUAL}")
    if not model.pre_norm:
        raise ValueError(f"{name} normalizes after each sublayer: {_NO_EQUAL}")


def pegasus(settings: RunSettings, weights: Weights) -> Any:
    """Return PEGASUS with the weights of a flat transformer."""
    library = load_transformers()
    network = library.PegasusForConditionalGeneration(library.PegasusConfig(**_config(settings)))
    state = dict(_state(settings, weights))
    network.load_state_dict(state)
    return network.eval()


def _config(settings: RunSettings) -> dict[str, Any]:
    model, decoding = settings.model, settings.decoding
    return {
        "vocab_size": model.vocab_size, "d_model": model.width,
        "encoder_layers": model.encoder_layers, "decoder_layers": model.decoder_layers,
        "encoder_attention_heads": model.heads, "decoder_attention_heads": model.heads,
        "encoder_ffn_dim": model.feedforward, "decoder_ffn_dim": model.feedforward,
        "activation_function": "relu", "scale_embedding": model.scale_embeddings,
        "dropout": model.dropout, "attention_dropout": model.attention_dropout,
        "activation_dropout": model.dropout if model.feedforward_dropout else 0.0,
        "tie_word_embeddings": model.tie_output, "pad_token_id": PAD, "bos_token_id": BEGIN,
        "eos_token_id": END, "decoder_start_token_id": BEGIN, "forced_eos_token_id": None,
        "max_position_embeddings": _positions(settings),
        "num_beams": decoding.beam, "max_length": decoding.max_tokens + 1,
    }  # fmt: skip


def _positions(settings: RunSettings) -> int:
    longest = max(settings.source.source_tokens, settings.source.target_tokens)
    return max(longest, settings.decoding.max_tokens) + 1


def _state(settings: RunSettings, weights: Weights) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights by the names of PEGASUS."""
    model = settings.model
    embedding = weights["embedding.weight"] * GROWTH
    for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens"):
        yield f"model.{name}.weight", embedding
    yield "lm_head.weight", embedding if model.tie_output else weights["output"]
    bias = weights.get("output_bias", torch.zeros(model.vocab_size))
    yield "final_logits_bias", bias[None]
    for side, layers in (("encoder", model.encoder_layers), ("decoder", model.decoder_layers)):
        table = sinusoids(_positions(settings), model.width) * GROWTH
        yield f"model.{side}.embed_positions.weight", table
        shrink = 1 / GROWTH if side == "decoder" and model.tie_output else 1.0
        for kind in ("weight", "bias"):
            yield f"model.{side}.layer_norm.{kind}", weights[f"{side}_norm.{kind}"] * shrink
        for number in range(layers):
            layer = f"encoder.layers.{number}" if side == "encoder" else f"decoder.{number}"
            parts = {"attention": "self_attn"}
            if side == "decoder":
                parts = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
            yield from _layer(f"model.{side}.layers.{number}", layer, parts, weights)


def _layer(
    name: str, layer: str, parts: dict[str, str], weights: Weights
) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of a layer; what is added to its input is multiplied."""
    norms = {"attention": "self_attn", "self": "self_attn", "cross": "encoder_attn"}
    for ours, theirs in parts.items():
        for projection, new in _ATTENTION.items():
            growth = GROWTH if projection == "output" else 1.0
            weight = weights[f"{layer}.{ours}.{projection}.weight"]
            bias = weights.get(f"{layer}.{ours}.{projection}.bias", torch.zeros(len(weight)))
            yield f"{name}.{theirs}.{new}.weight", weight * growth
            yield f"{name}.{theirs}.{new}.bias", bias * growth
    for kind in ("weight", "bias"):
        for ours, theirs in norms.items():
            if f"{layer}.to_{ours}.norm.{kind}" in weights:
                norm = weights[f"{layer}.to_{ours}.norm.{kind}"]
                yield f"{name}.{theirs}_layer_norm.{kind}", norm
        last = weights[f"{layer}.to_feedforward.norm.{kind}"]
        yield f"{name}.final_layer_norm.{kind}", last
        yield f"{name}.fc1.{kind}", weights[f"{layer}.feedforward.0.{kind}"]
        yield f"{name}.fc2.{kind}", weights[f"{layer}.feedforward.3.{kind}"] * GROWTH
