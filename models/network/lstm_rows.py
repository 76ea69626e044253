"""An LSTM over rows of different lengths.

Letters: B rows, L tokens of the longest, E width of the input, W width of the LSTM, Y layers times
directions, A width of the output.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

States = tuple[Tensor, Tensor]  # hidden and cell


def lstm_over_rows(lstm: nn.LSTM, x_BLE: Tensor, length_B: Tensor) -> tuple[Tensor, States]:
    """Return outputs [B, L, A], zero after the end of a row, and the last states [Y, B, W].

    On a CPU PyTorch reads packed rows token by token, and its backward pass clears a tensor of the
    size of the input for each of them. There, rows are read from the end of one to that of the
    next longer one by the fused LSTM.
    """
    if x_BLE.device.type != "cpu":
        packed = pack_padded_sequence(x_BLE, length_B.cpu(), True, enforce_sorted=False)
        out, states = lstm(packed)
        return pad_packed_sequence(out, True, total_length=x_BLE.shape[1])[0], states
    order_B = length_B.argsort(descending=True, stable=True)
    lengths = length_B[order_B].tolist()
    x_BLX, finals = x_BLE.index_select(0, order_B), []
    for layer in range(lstm.num_layers):
        if layer:
            x_BLX = F.dropout(x_BLX, lstm.dropout, lstm.training)
        found = [_forward_layer(lstm, layer, x_BLX, lengths)]
        if lstm.bidirectional:
            found.append(_backward_layer(lstm, layer, x_BLX, lengths))
        x_BLX = torch.cat([out for out, _ in found], -1)
        finals += [states for _, states in found]
    back_B = order_B.argsort()
    hidden, cell = (torch.cat(part).index_select(1, back_B) for part in zip(*finals, strict=True))
    return x_BLX.index_select(0, back_B), (hidden, cell)


def _forward_layer(
    lstm: nn.LSTM, layer: int, x_BLX: Tensor, lengths: list[int], suffix: str = ""
) -> tuple[Tensor, States]:
    """Return outputs and last states [1, B, W] of one layer over rows, the longest first."""
    names = [
        f"{kind}_l{layer}{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    weights = [getattr(lstm, name) for name in names]
    count = len(lengths)
    hidden = cell = x_BLX.new_zeros(1, count, lstm.hidden_size)
    ends = sorted(set(lengths))
    sizes = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    outs, finals = [], []
    for end, part in zip(ends, torch.split(x_BLX[:, : ends[-1]], sizes, 1), strict=True):
        state = hidden[:, :count].contiguous(), cell[:, :count].contiguous()
        out, hidden, cell = torch.lstm(
            part[:count], state, weights, True, 1, 0.0, lstm.training, False, True
        )
        outs.append(F.pad(out, (0, 0, 0, 0, 0, len(lengths) - count)))
        count = sum(length > end for length in lengths)
        finals.append((hidden[:, count:], cell[:, count:]))
    last_hidden, last_cell = (torch.cat(part, 1) for part in zip(*finals[::-1], strict=True))
    out_BLW = F.pad(torch.cat(outs, 1), (0, 0, 0, x_BLX.shape[1] - ends[-1]))
    return out_BLW, (last_hidden, last_cell)


def _backward_layer(
    lstm: nn.LSTM, layer: int, x_BLX: Tensor, lengths: list[int]
) -> tuple[Tensor, States]:
    """Return the same of the direction from the end of each row to its start."""
    index_L, length_B1 = torch.arange(x_BLX.shape[1]), torch.tensor(lengths)[:, None]
    index_BL = torch.where(index_L < length_B1, length_B1 - 1 - index_L, index_L)
    out, states = _forward_layer(lstm, layer, rows_at(x_BLX, index_BL), lengths, "_reverse")
    return rows_at(out, index_BL), states


def rows_at(x_BLW: Tensor, index_BL: Tensor) -> Tensor:
    """Return the vectors of each row at some positions, [B, L, W]."""
    return x_BLW.gather(1, index_BL[..., None].expand(-1, -1, x_BLW.shape[-1]))
