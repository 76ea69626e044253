"""The encoder of the pointer-generator: a bidirectional LSTM over the whole source.

Letters: B examples, L source tokens, E width of embeddings, W width of the LSTM, A = 2 W.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from wikisum.models.network.lstm_rows import lstm_over_rows


class Memory(NamedTuple):
    """An encoded source: what is mixed, what queries are compared with, the decoder's first state.

    `id_BL` are the source's ids for copying; those from the size of the vocabulary on are words
    that it lacks. `shift_BN` are the steps at which static windows move on.
    """

    value_BLA: Tensor
    key_BLA: Tensor
    is_source_BL: Tensor
    id_BL: Tensor
    hidden_BW: Tensor
    cell_BW: Tensor
    shift_BN: Tensor


class Encoder(nn.Module):
    """A bidirectional LSTM of one layer."""

    def __init__(self, embedding: int, width: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(embedding, width, batch_first=True, bidirectional=True)

    def forward(self, embedded_BLE: Tensor, is_source_BL: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return outputs [B, L, A] and the last hidden and cell states [B, A], forward first."""
        value_BLA, (hidden, cell) = lstm_over_rows(self.lstm, embedded_BLE, is_source_BL.sum(1))
        return value_BLA, _side_by_side(hidden), _side_by_side(cell)


def _side_by_side(state_2BW: Tensor) -> Tensor:
    return torch.cat([state_2BW[0], state_2BW[1]], -1)
