"""Cross-entropy over the vocabulary with label smoothing, a slice of the positions at a time.

Letters: Y positions with a label, W width, V vocabulary. The logits of all positions are never in
memory together: the forward pass computes the gradients slice by slice and keeps only those.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from wikisum.ranker.data.vocab import PAD

SLICE_LOGITS = 1 << 24  # logits computed at once on a GPU: 64 MiB in fp32
SLICE_POSITIONS = 256  # on a CPU, whose caches then hold the logits of a slice


class CrossEntropy(NamedTuple):
    """Sums over label positions in nats: with label smoothing, and without."""

    smoothed: Tensor
    plain: Tensor


class _SlicedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x_YW: Tensor, table_VW: Tensor, bias_V: Tensor | None, label_Y: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        is_gpu = x_YW.device.type == "cuda"
        rows = max(1, SLICE_LOGITS // table_VW.shape[0]) if is_gpu else SLICE_POSITIONS
        wants = ctx.needs_input_grad
        table = table_VW.to(x_YW.dtype)
        grad_x = torch.empty_like(x_YW) if wants[0] else None
        grad_table = torch.zeros_like(table_VW) if wants[1] else None
        grad_bias = torch.zeros_like(bias_V) if wants[2] and bias_V is not None else None
        sums = x_YW.new_zeros(2, dtype=torch.float32)
        for start in range(0, x_YW.shape[0], rows):
            part = slice(start, start + rows)
            logits = F.linear(x_YW[part], table).float()
            if bias_V is not None:
                logits += bias_V
            loss, error = _slice(logits, label_Y[part], smoothing)
            sums += loss
            if grad_x is not None:
                error_cast = error.to(x_YW.dtype)
                grad_x[part] = F.linear(error_cast, table.T)
                if grad_table is not None:
                    grad_table += F.linear(x_YW[part].T, error_cast.T).T
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

    Works in place on the logits. The label gets 1 - smoothing, padding nothing, and the other
    subwords share the rest evenly.
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
) -> CrossEntropy:
    """Return the cross-entropy of labels, none of them padding, given the decoder's outputs."""
    sums = _SlicedCrossEntropy.apply(x_YW, table_VW, bias_V, label_Y, smoothing)  # type: ignore[no-untyped-call]
    return CrossEntropy(*sums)


def label_log_probabilities(
    x_YW: Tensor, table_VW: Tensor, bias_V: Tensor | None, label_Y: Tensor
) -> Tensor:
    """Return the log-probability of each label, [Y], fp32, a slice of the positions at a time."""
    parts = zip(
        torch.split(x_YW, SLICE_POSITIONS), torch.split(label_Y, SLICE_POSITIONS), strict=True
    )
    logs = [
        F.linear(x, table_VW, bias_V).float().log_softmax(-1).gather(-1, label[:, None])[:, 0]
        for x, label in parts
    ]
    return torch.cat(logs)
