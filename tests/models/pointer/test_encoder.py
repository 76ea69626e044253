import torch

from wikisum.models.pointer.encoder import Encoder

LENGTHS = 2, 5, 1


@torch.no_grad()
def test_padding_changes_nothing():
    """Each example as torch's LSTM reads it alone, in both directions."""
    torch.manual_seed(0)
    encoder = Encoder(3, 4)
    embedded_BLE = torch.randn(3, 6, 3)
    is_source_BL = torch.arange(6) < torch.tensor(LENGTHS)[:, None]
    value_BLA, hidden_BA, cell_BA = encoder(embedded_BLE, is_source_BL)
    assert value_BLA.shape == (3, 6, 8)
    for row, length in enumerate(LENGTHS):
        out, (hidden, cell) = encoder.lstm(embedded_BLE[row : row + 1, :length])
        torch.testing.assert_close(value_BLA[row, :length], out[0])
        assert not value_BLA[row, length:].any()
        torch.testing.assert_close(hidden_BA[row], hidden[:, 0].flatten())
        torch.testing.assert_close(cell_BA[row], cell[:, 0].flatten())
        # the forward half ends at the last token, the backward half at the first
        torch.testing.assert_close(hidden_BA[row, :4], out[0, -1, :4])
        torch.testing.assert_close(hidden_BA[row, 4:], out[0, 0, 4:])
