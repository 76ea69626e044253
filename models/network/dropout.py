"""Dropout whose mask costs a processor half of what `torch.nn.Dropout` takes for it."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_SHARES = 1 << 16  # a share dropped is a whole number of these


class Dropout(nn.Module):
    """Zeros for about `share` of all numbers in training, the others scaled up to match.

    On a processor a mask takes 16 bits a number of PyTorch's generator, so that the share is one
    of 65,536 parts.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.share:
            return x
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return F.dropout(x, self.share)
        dropped = min(max(round(self.share * _SHARES), 1), _SHARES - 1)
        kept = _drawn(x.shape).ge_(dropped - _SHARES // 2)
        return x * kept.to(x.dtype).mul_(_SHARES / (_SHARES - dropped))


def _drawn(shape: torch.Size) -> Tensor:
    """16 random bits each, of the 64 that the generator gives at once."""
    count = shape.numel()
    words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(1 << 63), None)
    return words.view(torch.int16)[:count].view(shape)
