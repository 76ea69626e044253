"""Encoder-decoders of transformers, such as BART, T5, PEGASUS, LED and PRIMERA.

Letters: B examples, K hypotheses of each, L tokens of the longest source in our ids, T in those of
the model, S target positions, Y real labels, V tokens, W width.
"""

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.network.packing import Batch, Source
from wikisum.models.pretrained.frame import Rows, encoder_frame, rows
from wikisum.models.pretrained.labels import PretrainedModel, model_ids, our_logits
from wikisum.models.pretrained.lengths import check_steps, target_positions
from wikisum.models.pretrained.network import CacheState, returning_attention, source_shares
from wikisum.models.pretrained.settings import PretrainedSettings

GLOBAL = "global_attention_mask"


class Encoded(NamedTuple):
    """Sources after the encoder, [B, T, W]."""

    hidden_BTW: Tensor
    rows: Rows


class PretrainedEncoderDecoder(PretrainedModel):
    """An encoder-decoder of transformers."""

    def __init__(
        self, settings: PretrainedSettings, network: Any, tokenizer: Any, config: Any
    ) -> None:
        super().__init__()
        self.frame = encoder_frame(settings, tokenizer, config)
        self.network = network
        self._has_global = GLOBAL in inspect.signature(network.get_encoder().forward).parameters

    def global_attention(self, rows: Rows) -> Tensor:
        """Return which tokens attend to all and are seen by all, [B, T]: first and separators."""
        marks = torch.tensor(self.frame.marks, device=rows.id_BT.device, dtype=torch.long)
        mask_BT = torch.isin(rows.id_BT, marks).long() * rows.mask_BT
        mask_BT[:, 0] = 1
        return mask_BT

    def encode(self, source: Source) -> Encoded:
        """Return the output of the encoder."""
        read = rows(source, self.frame)
        more = {GLOBAL: self.global_attention(read)} if self._has_global else {}
        found = self.network.get_encoder()(
            input_ids=read.id_BT, attention_mask=read.mask_BT, return_dict=True, **more
        )
        return Encoded(found.last_hidden_state, read)

    def _logits(self, batch: Batch, memory: Encoded) -> Tensor:
        logits_BSV: Tensor = self._decode(batch, memory).logits[:, len(self.frame.start) - 1 :]
        return logits_BSV.flatten(0, 1).index_select(0, batch.label_slot_Y)

    def _decode(self, batch: Batch, memory: Encoded, **options: Any) -> Any:
        start = self._started(batch.target_BS[:, :1])
        id_BS = torch.cat([start, model_ids(batch.target_BS[:, 1:], self.frame)], 1)
        return self.network(
            encoder_outputs=(memory.hidden_BTW,), attention_mask=memory.rows.mask_BT,
            decoder_input_ids=id_BS, use_cache=False, return_dict=True, **options,
        )  # fmt: skip

    def _started(self, like_B1: Tensor) -> Tensor:
        """Return the first inputs of the decoder, a row for each row."""
        return like_B1.new_tensor(self.frame.start).expand(len(like_B1), -1)

    def start(self, memory: Encoded, beam: int, max_steps: int) -> CacheState:
        """Return the state before the first step. Raises ValueError for too many steps."""
        check_steps(target_positions(self.network.config), len(self.frame.start), max_steps)
        hidden, mask = (
            x.repeat_interleave(beam, 0) for x in (memory.hidden_BTW, memory.rows.mask_BT)
        )
        return CacheState(beam, mask, hidden)

    def step(self, token_BK: Tensor, state: CacheState) -> Tensor:
        """Return the logits of the next token, [B, K, V]."""
        flat = token_BK.reshape(-1, 1)
        is_first = state.cache is None
        found = self.network(
            encoder_outputs=(state.hidden,), attention_mask=state.mask,
            decoder_input_ids=self._started(flat) if is_first else model_ids(flat, self.frame),
            past_key_values=state.cache, use_cache=True, return_dict=True,
        )  # fmt: skip
        state.cache = found.past_key_values
        return our_logits(found.logits[:, -1].view(*token_BK.shape, -1), self.frame)

    def source_attention(self, batch: Batch, memory: Encoded) -> Tensor:
        """Return how target positions attend to source tokens, the mean of layers and heads."""
        with returning_attention(self.network):
            found = self._decode(batch, memory, output_attentions=True)
        mean_BST = torch.stack([layer.mean(1) for layer in found.cross_attentions]).mean(0)
        own_BST = mean_BST[:, len(self.frame.start) - 1 :]
        return source_shares(own_BST, memory.rows.slot_BL, batch.source.is_source_BL)
