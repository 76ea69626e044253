"""Dropout whose random numbers cost a processor little.

On a CPU, PyTorch draws a double per number for its masks, a fifth of a training step
(`benchmarks/released_speed.md`). Here four numbers share 64 random bits.
"""

from typing import Any

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
    dropped, count = _dropped_levels(share), x.numel()
    drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(1 << 63), None)
    bits = drawn.view(torch.int16)[:count].view(x.shape)  # -32,768 to 32,767
    noise = torch.empty(x.shape, dtype=x.dtype)
    torch.ge(bits, dropped - LEVELS // 2, out=noise)
    return noise.mul_(LEVELS / (LEVELS - dropped))


def _dropped_levels(share: float) -> int:
    return min(round(share * LEVELS), LEVELS - 1)


def relu_dropout(x: Tensor, share: float, training: bool = True) -> Tensor:
    """Return `dropout(relu(x))`; x may be overwritten.

    The output is all that is kept for the backward pass: it is positive exactly where the input is
    positive and was not dropped.
    """
    if not training or not share or torch.compiler.is_compiling():
        return dropout(x.relu_(), share, training)
    dropped: Tensor = _ReluDropout.apply(x, share)  # type: ignore[no-untyped-call]
    return dropped


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, share: float) -> Tensor:
        if x.device.type == "cpu":
            dropped = _dropped_levels(share)
            ctx.factor = LEVELS / (LEVELS - dropped)
            out = x.relu_().mul_(noise_like(x, share))
            ctx.mark_dirty(x)
        else:
            ctx.factor = 1 / (1 - share)
            out = F.dropout(x.relu(), share)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        (out,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(grad, out, 0).mul_(ctx.factor), None


class Dropout(nn.Dropout):
    """A layer that applies `dropout`."""

    def forward(self, x: Tensor) -> Tensor:
        return dropout(x, self.p, self.training)
