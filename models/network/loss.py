"""Cross-entropy over the vocabulary with smoothed labels, a slice of the places at a time.

Letters: Y places with a label, W width, V vocabulary. Logits of all places never stand in memory
together: the way forward works out the gradients slice by slice and keeps only those.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.network.products import linear
from wikisum.ranker.data.vocab import PAD

SLICE_LOGITS = 1 << 24  # logits worked out at once on a GPU: 64 MiB in full precision
SLICE_PLACES = 256  # and places on a processor, whose caches then hold their logits


class Loss(NamedTuple):
    """Sums over places in nats: what is trained on, and the plain loss of the labels."""

    smoothed: Tensor
    plain: Tensor


class _SlicedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x_YW: Tensor, table_VW: Tensor, bias_V: Tensor | None, label_Y: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        is_gpu = x_YW.device.type == "cuda"
        rows = max(1, SLICE_LOGITS // table_VW.shape[0]) if is_gpu else SLICE_PLACES
        wants = ctx.needs_input_grad
        table = table_VW.to(x_YW.dtype)
        grad_x = torch.empty_like(x_YW) if wants[0] else None
        grad_table = torch.zeros_like(table_VW) if wants[1] else None
        grad_bias = torch.zeros_like(bias_V) if wants[2] and bias_V is not None else None
        sums = x_YW.new_zeros(2, dtype=torch.float32)
        for start in range(0, x_YW.shape[0], rows):
            part = slice(start, start + rows)
            logits = linear(x_YW[part], table).float()
            if bias_V is not None:
                logits += bias_V
            loss, error = _slice(logits, label_Y[part], smoothing)
            sums += loss
            if grad_x is not None:
                error_cast = error.to(x_YW.dtype)
                grad_x[part] = linear(error_cast, table.T)
                if grad_table is not None:
                    grad_table += linear(x_YW[part].T, error_cast.T).T
                if grad_bias is not None:
                    grad_bias += error.sum(0)
        ctx.save_for_backward(grad_x, grad_table, grad_bias)
        ctx.mark_non_differentiable(sums[1])
        return sums[0], sums[1]

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        found = [None if g is None else g * grad.to(g.dtype) for g in ctx.saved_tensors]
        return *found, None, None


def _slice(logits_YV: Tensor, label_Y: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """([2] sums of smoothed and plain loss, [Y, V] gradient of the smoothed one).

    All is done in the place of the logits. The label has 1 - smoothing; padding has none; the
    others share the rest evenly.
    """
    share = smoothing / (logits_YV.shape[1] - 2)
    label_Y1 = label_Y[:, None]
    logits_YV -= logits_YV.amax(1, keepdim=True)
    at_label_Y1 = logits_YV.gather(1, label_Y1)
    others = logits_YV.sum() - logits_YV[:, PAD].sum() - at_label_Y1.sum() if smoothing else 0.0
    error_YV = logits_YV.exp_()
    sum_Y1 = error_YV.sum(1, keepdim=True)
    log_Y1 = sum_Y1.log()
    plain = (log_Y1 - at_label_Y1).sum()
    others = others - log_Y1.sum() * (error_YV.shape[1] - 2)
    smoothed = (1 - smoothing) * plain - share * others
    error_YV.div_(sum_Y1).sub_(share)
    error_YV[:, PAD] += share
    error_YV.scatter_add_(1, label_Y1, torch.full_like(at_label_Y1, share + smoothing - 1))
    return torch.stack([smoothed, plain]), error_YV


def cross_entropy(
    x_YW: Tensor, table_VW: Tensor, bias_V: Tensor | None, label_Y: Tensor, smoothing: float
) -> Loss:
    """The loss of labels (none of them padding) given what stands at their places."""
    sums = _SlicedCrossEntropy.apply(x_YW, table_VW, bias_V, label_Y, smoothing)  # type: ignore[no-untyped-call]
    return Loss(*sums)
