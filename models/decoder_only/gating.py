"""Noisy top-k gating (Shazeer et al. 2017): which experts each token goes to.

Letters: N tokens, E experts, A active experts per token, K = A + 1 best scores (A if A = E).
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

NOISE_FLOOR = 1e-2
EPSILON = 1e-10


class Gates(NamedTuple):
    """The choice of experts: which ones each token goes to, with which weights.

    `importance_E` sums the weights of each expert over tokens. `load_E` estimates how many tokens
    each expert gets, differentiably (equation 10); without noise it counts them.
    """

    expert_NA: Tensor
    weight_NA: Tensor
    importance_E: Tensor
    load_E: Tensor

    def imbalance(self) -> Tensor:
        """The squared coefficients of variation of importance and load, summed (eq. 7, 11)."""
        return squared_variation(self.importance_E) + squared_variation(self.load_E)


def gates(x_NW: Tensor, gate_EW: Tensor, noise_EW: Tensor, active: int, training: bool) -> Gates:
    """Return the choice of experts (equations 3 to 5); the noise is for training alone."""
    if not training:
        best_NA, expert_NA = F.linear(x_NW, gate_EW).topk(active)
        return _weighted(best_NA, expert_NA, None, len(gate_EW))
    logit_N2E = F.linear(x_NW, torch.cat([gate_EW, noise_EW]))
    noise_NE = torch.randn_like(logit_N2E[:, : len(gate_EW)])
    best_NK, expert_NK, load_E = NoisyScores.apply(logit_N2E, noise_NE, active)  # type: ignore[no-untyped-call]
    known_load_E = load_E if active < len(gate_EW) else None
    return _weighted(best_NK[:, :active], expert_NK[:, :active], known_load_E, len(gate_EW))


def _weighted(best_NA: Tensor, expert_NA: Tensor, load_E: Tensor | None, experts: int) -> Gates:
    weight_NA = best_NA.softmax(1)
    zeros_E = weight_NA.new_zeros(experts)
    importance_E = zeros_E.index_add(0, expert_NA.flatten(), weight_NA.flatten())
    if load_E is None:
        load_E = torch.bincount(expert_NA.flatten(), minlength=experts).to(zeros_E)
    return Gates(expert_NA, weight_NA, importance_E, load_E)


class NoisyScores(torch.autograd.Function):
    """The K best scores of each token after noise, their experts, and the expected load, [E].

    The first half of the logits are the clean scores, the second half gives the deviation of the
    noise. The load of an expert sums, over tokens, the probability that it is chosen when its own
    noise is drawn again and that of the others stays (equations 8 to 10): an expert among the
    best must beat the next one, another the last of the best. The load is defined for A < E.

    The backward pass is written out, since it needs fewer passes over [N, E] than autograd.
    """

    @staticmethod
    def forward(
        ctx: Any, logit_N2E: Tensor, noise_NE: Tensor, active: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        clean_NE, rough_NE = logit_N2E.chunk(2, 1)
        deviation_NE = F.softplus(rough_NE).add_(NOISE_FLOOR)
        noisy_NE = torch.addcmul(clean_NE, noise_NE, deviation_NE)
        best_NK, expert_NK = noisy_NE.topk(min(active + 1, noisy_NE.shape[1]))
        next_N1, last_N1 = best_NK[:, -1:], best_NK[:, active - 1 : active]
        to_beat_NE = torch.where(noisy_NE > next_N1, next_N1, last_N1)
        margin_NE = torch.sub(clean_NE, to_beat_NE).div_(deviation_NE)
        load_E = torch.special.ndtr(margin_NE).sum(0)
        ctx.active = active
        ctx.save_for_backward(rough_NE, noise_NE, deviation_NE, margin_NE, expert_NK)
        ctx.mark_non_differentiable(expert_NK)
        return best_NK, expert_NK, load_E

    @staticmethod
    def backward(  # type: ignore[override]
        ctx: Any, grad_best_NK: Tensor, _: Tensor, grad_load_E: Tensor
    ) -> tuple[Tensor, None, None]:
        rough_NE, noise_NE, deviation_NE, margin_NE, expert_NK = ctx.saved_tensors
        grad_N2E = torch.empty_like(rough_NE).repeat(1, 2)
        grad_clean_NE, grad_rough_NE = grad_N2E.chunk(2, 1)
        density_NE = margin_NE.square().mul_(-0.5).exp_()  # of the normal distribution, times √2π
        torch.div(density_NE, deviation_NE, out=grad_clean_NE)
        grad_clean_NE *= grad_load_E / math.sqrt(2 * math.pi)
        torch.mul(grad_clean_NE, margin_NE, out=grad_rough_NE).neg_()
        # the score to beat is itself one of the best, and a higher one lowers the load
        grad_best_NK = grad_best_NK.clone()
        from_chosen_N = grad_clean_NE.gather(1, expert_NK[:, : ctx.active]).sum(1)
        grad_best_NK[:, -1] -= from_chosen_N
        grad_best_NK[:, ctx.active - 1] -= grad_clean_NE.sum(1) - from_chosen_N
        grad_clean_NE.scatter_add_(1, expert_NK, grad_best_NK)
        grad_rough_NE.scatter_add_(1, expert_NK, grad_best_NK * noise_NE.gather(1, expert_NK))
        grad_rough_NE *= rough_NE.sigmoid()  # the derivative of softplus
        return grad_N2E, None, None


def squared_variation(x_E: Tensor) -> Tensor:
    """The variance over the squared mean; 0 for a single number."""
    return x_E.var(correction=0) / (x_E.mean() ** 2 + EPSILON)
