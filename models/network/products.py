"""Products with matrices, by the faster of the two exact kernels that PyTorch has on processors.

PyTorch multiplies fp32 matrices with MKL, which leaves half the width of an AMD processor's vectors
unused; oneDNN, which PyTorch carries as well, does not: twice as fast measured (AVX-512). It builds
a kernel for each new shape and keeps it, so all but the largest products stay with MKL,
and so do those of compiled layers. Both sum in fp32, in another order.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WORTH_A_KERNEL = 1 << 30  # multiplications; many times what a kernel costs to build, 0.8 ms


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias over the last dimension, as `torch.nn.functional.linear` gives it."""
    if not _is_worth_it(x, weight):
        return F.linear(x, weight, bias)
    flat: Tensor = _Linear.apply(x.reshape(-1, x.shape[-1]), weight, bias)  # type: ignore[no-untyped-call]
    return flat.view(*x.shape[:-1], weight.shape[0])


class Linear(nn.Linear):
    """`torch.nn.Linear` by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class _Linear(torch.autograd.Function):
    """Of a matrix; legend: N rows, I and O widths in and out."""

    @staticmethod
    def forward(ctx: Any, x_NI: Tensor, weight_OI: Tensor, bias_O: Tensor | None) -> Tensor:
        ctx.save_for_backward(x_NI, weight_OI)
        return _product(x_NI, weight_OI, bias_O)

    @staticmethod
    def backward(ctx: Any, grad_NO: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x_NI, weight_OI = ctx.saved_tensors
        wants_x, wants_weight, wants_bias = ctx.needs_input_grad
        return (
            _product(grad_NO, weight_OI.T) if wants_x else None,
            _product(x_NI.T, grad_NO.T).T if wants_weight else None,
            grad_NO.sum(0) if wants_bias else None,
        )


def _is_worth_it(x: Tensor, weight: Tensor) -> bool:
    if torch.compiler.is_compiling():  # it would stop at the questions below
        return False
    return (
        x.numel() * weight.shape[0] >= WORTH_A_KERNEL
        and x.device.type == "cpu"
        and x.dtype == weight.dtype == torch.float32
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and not torch.is_autocast_enabled("cpu")
    )


def _product(x_NI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    # other strides than those of a matrix or its transpose have only a slow kernel
    x_NI, weight_OI = (m if m.T.is_contiguous() else m.contiguous() for m in (x_NI, weight_OI))
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x_NI, weight_OI, bias_O, "none", [], "")
    return found
