"""The LSTM over rows of different lengths against PyTorch's over packed rows."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from wikisum.models.network.lstm_rows import lstm_over_rows

CASES = {"ties": [2, 5, 5, 1], "rising": [1, 2, 3, 7], "one": [4], "padded": [3, 2, 3, 1]}


def packed(lstm: nn.LSTM, x: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    out, states = lstm(pack_padded_sequence(x, lengths, True, enforce_sorted=False))
    return pad_packed_sequence(out, True, total_length=x.shape[1])[0], states


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_outputs_states_and_gradients_are_those_of_packed_rows(name, bidirectional, dtype):
    torch.manual_seed(0)
    lengths = torch.tensor(CASES[name])
    lstm = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=bidirectional).to(dtype)
    found = []
    for read in (lstm_over_rows, packed):
        x = torch.linspace(-1, 1, len(lengths) * 7 * 3, dtype=dtype).view(-1, 7, 3)
        x.requires_grad_()
        out, (hidden, cell) = read(lstm, x, lengths)
        lstm.zero_grad()
        (out.square().sum() + hidden.sin().sum() + cell.cos().sum()).backward()
        weights = [parameter.grad.clone() for parameter in lstm.parameters()]
        found.append([out, hidden, cell, x.grad, *weights])
    for ours, expected in zip(*found, strict=True):
        torch.testing.assert_close(ours, expected)


def test_layers_drop_their_input_in_training():
    torch.manual_seed(0)
    lstm = nn.LSTM(3, 4, 2, batch_first=True, dropout=0.5)
    x, lengths = torch.randn(2, 5, 3), torch.tensor([5, 3])
    first, second = (lstm_over_rows(lstm, x, lengths)[0] for _ in range(2))
    assert not torch.equal(first, second)
    lstm.eval()
    torch.testing.assert_close(lstm_over_rows(lstm, x, lengths), packed(lstm, x, lengths))
