"""Decoder-only models of transformers: an instruction, the source, then the target.

Only the target is learned. Letters: B examples, K hypotheses of each, L tokens of the longest
source in our ids, T tokens of the longest prompt, S target positions, X all positions, Y real
labels, V tokens.
"""

import inspect
from typing import Any

import torch
from torch import Tensor

from wikisum.models.network.packing import Batch, Source
from wikisum.models.pretrained.frame import Rows, prompt_frame, rows
from wikisum.models.pretrained.labels import PretrainedModel, model_ids, our_logits
from wikisum.models.pretrained.lengths import check_steps, target_positions
from wikisum.models.pretrained.network import CacheState, returning_attention, source_shares
from wikisum.models.pretrained.settings import PretrainedSettings


class PretrainedDecoder(PretrainedModel):
    """A decoder-only model of transformers.

    Prompts are padded at the left, so that all targets begin at the same position.
    """

    def __init__(
        self, settings: PretrainedSettings, network: Any, tokenizer: Any, config: Any
    ) -> None:
        super().__init__()
        self.frame = prompt_frame(settings, tokenizer, config)
        self.network = network
        self._has_positions = "position_ids" in inspect.signature(network.forward).parameters

    def encode(self, source: Source) -> Rows:
        """Return the prompts."""
        return rows(source, self.frame, is_left=True)

    def _logits(self, batch: Batch, memory: Rows) -> Tensor:
        target_BS = model_ids(batch.target_BS[:, 1:], self.frame)
        id_BX = torch.cat([memory.id_BT, target_BS], 1)
        mask_BX = torch.cat([memory.mask_BT, torch.ones_like(target_BS)], 1)
        found = self._call(id_BX, mask_BX, use_cache=False)
        logits_BSV: Tensor = found.logits[:, memory.id_BT.shape[1] - 1 :]
        return logits_BSV.flatten(0, 1).index_select(0, batch.label_slot_Y)

    def _call(self, id_BX: Tensor, mask_BX: Tensor, **options: Any) -> Any:
        """Call the network on the last tokens of sequences that `mask_BX` covers as a whole."""
        if self._has_positions:
            position_BX = (mask_BX.cumsum(1) - 1).clamp(min=0)
            options["position_ids"] = position_BX[:, -id_BX.shape[1] :]
        return self.network(input_ids=id_BX, attention_mask=mask_BX, return_dict=True, **options)

    def start(self, memory: Rows, beam: int, max_steps: int) -> CacheState:
        """Return the state before the first step, which reads each prompt once.

        Raises ValueError for too many steps.
        """
        longest = memory.id_BT.shape[1]
        check_steps(target_positions(self.network.config), longest, max_steps)
        found = self._call(memory.id_BT[:, :-1], memory.mask_BT[:, :-1], use_cache=True)
        found.past_key_values.batch_repeat_interleave(beam)
        mask = memory.mask_BT.repeat_interleave(beam, 0)
        last = memory.id_BT[:, -1:].repeat_interleave(beam, 0)
        return CacheState(beam, mask, None, found.past_key_values, last)

    def step(self, token_BK: Tensor, state: CacheState) -> Tensor:
        """Return the logits of the next token, [B, K, V]."""
        if state.prompt_end is not None:  # BEGIN stands for it
            id_X1, state.prompt_end = state.prompt_end, None
        else:
            id_X1 = model_ids(token_BK.reshape(-1, 1), self.frame)
            state.mask = torch.cat([state.mask, torch.ones_like(id_X1)], 1)
        found = self._call(id_X1, state.mask, past_key_values=state.cache, use_cache=True)
        state.cache = found.past_key_values
        return our_logits(found.logits[:, -1].view(*token_BK.shape, -1), self.frame)

    def source_attention(self, batch: Batch, memory: Rows) -> Tensor:
        """Return how target positions attend to source tokens, the mean of layers and heads.

        What they attend to elsewhere is left out.
        """
        state = self.start(memory, 1, 0)
        target_BS = model_ids(batch.target_BS[:, 1:], self.frame)
        id_BS = torch.cat([memory.id_BT[:, -1:], target_BS], 1)
        mask_BX = torch.cat([memory.mask_BT, torch.ones_like(target_BS)], 1)
        with returning_attention(self.network):
            found = self._call(
                id_BS, mask_BX, past_key_values=state.cache, use_cache=True, output_attentions=True
            )
        mean_BSX = torch.stack([layer.mean(1) for layer in found.attentions]).mean(0)
        return source_shares(mean_BSX, memory.slot_BL, batch.source.is_source_BL)
