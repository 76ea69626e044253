"""Dropout whose random numbers cost a processor little.

On a CPU, PyTorch draws a double per number for its masks, a fifth of a training step
(`benchmarks/released_speed.md`). Here four numbers share 64 random bits.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 1 << 16  # values of the 16 random bits per number


def dropout(x: Tensor, share: float, training: bool = True) -> Tensor:
    """Return `x` with a share of its numbers set to 0 and the others scaled up in training.

    On a CPU the share is rounded to a multiple of 1 / 65,536.
    """
    if not training or not share:
        return x
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, share)
    return x * noise_like(x, share)


def noise_like(x: Tensor, share: float) -> Tensor:
    """Return factors of the shape and type of `x`: 0 for a share of them, else 1 / (1 - share)."""
    dropped = min(round(share * LEVELS), LEVELS - 1)
    count = x.numel()
    drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(1 << 63), None)
    bits = drawn.view(torch.int16)[:count].view(x.shape)  # -32,768 to 32,767
    noise = torch.empty(x.shape, dtype=x.dtype)
    torch.ge(bits, dropped - LEVELS // 2, out=noise)
    return noise.mul_(LEVELS / (LEVELS - dropped))


class Dropout(nn.Dropout):
    """A layer that applies `dropout`."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training)
