"""The scores of additive attention (Bahdanau et al. 2014), whose backward pass reuses its buffers.

Letters: B examples, K queries, L source tokens, A width of the features.
"""

from typing import Any

import torch
from torch import Tensor


def additive_scores(
    query_BKA: Tensor, key_BLA: Tensor, v_A: Tensor, coverage_BKL: Tensor | None = None,
    covered_A: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return v tanh(query + key + coverage * covered) for each query and source token, [B, K, L].

    Without coverage its term is 0, and `covered_A`, if given, has a gradient of 0: DDP requires
    that every parameter takes part.
    """
    rest = (None if x is None else x.to(query_BKA.dtype) for x in (v_A, coverage_BKL, covered_A))
    scores: Tensor = _AdditiveScores.apply(query_BKA, key_BLA, *rest)  # type: ignore[no-untyped-call]
    return scores


class _AdditiveScores(torch.autograd.Function):
    """The features of a step are the largest tensor of a decoder: one buffer holds them."""

    @staticmethod
    def forward(
        ctx: Any, query_BKA: Tensor, key_BLA: Tensor, v_A: Tensor, coverage_BKL: Tensor | None,
        covered_A: Tensor | None,
    ) -> Tensor:  # fmt: skip
        feature_BKLA = query_BKA[:, :, None] + key_BLA[:, None]
        if coverage_BKL is not None and covered_A is not None:
            feature_BKLA.addcmul_(coverage_BKL[..., None], covered_A)
        feature_BKLA.tanh_()
        ctx.save_for_backward(feature_BKLA, v_A, coverage_BKL, covered_A)
        return feature_BKLA @ v_A

    @staticmethod
    def backward(ctx: Any, grad_BKL: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        feature_BKLA, v_A, coverage_BKL, covered_A = ctx.saved_tensors
        grad_v_A = feature_BKLA.flatten(0, 2).T @ grad_BKL.flatten()
        grad_BKLA = grad_BKL[..., None] * v_A
        torch.ops.aten.tanh_backward.grad_input(grad_BKLA, feature_BKLA, grad_input=grad_BKLA)
        grad_coverage_BKL, grad_covered_A = None, None
        if covered_A is not None:
            grad_covered_A = torch.zeros_like(covered_A)
            if coverage_BKL is not None:
                grad_coverage_BKL = grad_BKLA @ covered_A
                grad_covered_A = grad_BKLA.flatten(0, 2).T @ coverage_BKL.flatten()
        is_single = grad_BKLA.shape[1] == 1
        grad_key_BLA = grad_BKLA[:, 0] if is_single else grad_BKLA.sum(1)
        return grad_BKLA.sum(2), grad_key_BLA, grad_v_A, grad_coverage_BKL, grad_covered_A
