"""The networks of transformers: built, read from a folder, and their caches.

Letters: B examples, K hypotheses of each.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from wikisum.models.vocabulary.pretrained import load_transformers

_LAYER_DROPS = ("layerdrop", "encoder_layerdrop", "decoder_layerdrop")


def new_network(config: Any) -> nn.Module:
    """Return a network with random weights.

    No layer is ever dropped as a whole: every parameter has to take part in every loss.
    """
    for name in _LAYER_DROPS:
        if hasattr(config, name):
            setattr(config, name, 0.0)
    return _kind(config).from_config(config, dtype=torch.float32)


def pretrained_network(config: Any, folder: str) -> nn.Module:
    """Return the network in a folder, from files of safetensors alone; nothing is unpickled.

    Raises ValueError naming the folder.
    """
    try:
        network, loading = _kind(config).from_pretrained(
            folder, local_files_only=True, use_safetensors=True, trust_remote_code=False,
            dtype=torch.float32, output_loading_info=True,
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"--pretrained {folder}: {str(error).strip().splitlines()[0]}") from error
    if missing := sorted(loading["missing_keys"]):
        raise ValueError(f"--pretrained {folder}: no weights of {missing[0]}")
    return network


def _kind(config: Any) -> Any:
    library = load_transformers()
    is_pair = config.is_encoder_decoder
    return library.AutoModelForSeq2SeqLM if is_pair else library.AutoModelForCausalLM


@contextlib.contextmanager
def returning_attention(network: Any) -> Iterator[None]:
    """Compute attention in the one way that can return its weights."""
    before = network.config._attn_implementation
    network.set_attn_implementation("eager")
    try:
        yield
    finally:
        network.set_attn_implementation(before)


@dataclass
class CacheState:
    """A decoding state: the network's own cache, whose rows are the hypotheses of all examples.

    `mask` [B * K, T] covers the source, in decoder-only models also what was written. `hidden`
    [B * K, T, W] is the output of the encoder. `prompt_end` [B * K, 1] is the last token of the
    prompts of a decoder-only model, until it is read.
    """

    beam: int
    mask: Tensor
    hidden: Tensor | None = None
    cache: Any = None
    prompt_end: Tensor | None = None

    def reorder(self, parent_BK: Tensor) -> None:
        """Let each hypothesis continue the past of its parent; all of an example share a source."""
        first_B1 = torch.arange(len(parent_BK), device=parent_BK.device)[:, None] * self.beam
        cache = getattr(self.cache, "self_attention_cache", self.cache)
        cache.reorder_cache((first_B1 + parent_BK).flatten())

    def select(self, example_B: Tensor) -> None:
        """Keep the hypotheses of some examples."""
        within = torch.arange(self.beam, device=example_B.device)
        rows = (example_B[:, None] * self.beam + within).flatten()
        self.cache.batch_select_indices(rows)
        self.mask = self.mask[rows]
        if self.hidden is not None:
            self.hidden = self.hidden[rows]


def source_shares(weight_BST: Tensor, slot_BL: Tensor, is_source_BL: Tensor) -> Tensor:
    """Return the weights of source tokens, [B, S, L], scaled so that rows sum to 1."""
    index_BSL = slot_BL[:, None].expand(-1, weight_BST.shape[1], -1)
    found_BSL = weight_BST.float().gather(-1, index_BSL) * is_source_BL[:, None]
    return found_BSL / found_BSL.sum(-1, keepdim=True).clamp(min=1e-30)
