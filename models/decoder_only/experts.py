"""A sparsely-gated mixture of experts (Shazeer et al. 2017) as the feed-forward part of a layer.

Letters: N tokens, E experts, A active experts per token, W width, F hidden width of an expert.
Every token goes to its best A experts; none is dropped. Tokens are sorted by expert, and all
experts are applied by one grouped matrix product per linear layer.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.decoder_only.caches import Cache
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings

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


class Experts(nn.Module):
    """Two linear layers without bias for each expert, ReLU between them.

    As in the released code, the output is divided by the root of F / W, and gates start at zero:
    noise alone chooses at first.
    """

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        width, hidden, experts = settings.width, settings.feedforward, settings.experts
        self.active = settings.active_experts
        self.gate, self.noise = (nn.Linear(width, experts, bias=False) for _ in range(2))
        self.widen = nn.Parameter(torch.empty(experts, width, hidden))
        self.narrow = nn.Parameter(torch.empty(experts, hidden, width))
        self.scale = (hidden / width) ** -0.5
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Zeros for the gates, Xavier's uniform for each expert."""
        for gate in (self.gate, self.noise):
            nn.init.zeros_(gate.weight)
        for matrices in (self.widen, self.narrow):
            bound = math.sqrt(6 / (matrices.shape[1] + matrices.shape[2]))
            nn.init.uniform_(matrices, -bound, bound)

    def forward(self, x_NW: Tensor, layout: Layout | None = None) -> tuple[Tensor, Gates]:
        """[N, W] the weighted outputs of each token's experts, and how they were chosen."""
        gates = self.gates(x_NW)
        dtype = _product_dtype(x_NW)
        weight_NA = (gates.weight_NA * self.scale).to(dtype)
        matrices = self.widen.to(dtype), self.narrow.to(dtype)
        mixed_NW: Tensor = _Products.apply(x_NW.to(dtype), weight_NA, gates.expert_NA, *matrices)  # type: ignore[no-untyped-call]
        return mixed_NW, gates

    def gates(self, x_NW: Tensor) -> Gates:
        """Noisy top-k gating (equations 3 to 5); the noise is for training alone."""
        with torch.autocast(x_NW.device.type, enabled=False):
            x_NW = x_NW.float()
            if not self.training:
                best_NA, expert_NA = F.linear(x_NW, self.gate.weight.float()).topk(self.active)
                return self._gates(best_NA, expert_NA, None)
            both = torch.cat([self.gate.weight, self.noise.weight]).float()
            clean_NE, rough_NE = F.linear(x_NW, both).chunk(2, 1)
            deviation_NE = F.softplus(rough_NE) + NOISE_FLOOR
            noisy_NE = clean_NE + torch.randn_like(clean_NE) * deviation_NE
            more = min(self.active + 1, noisy_NE.shape[1])
            best_NX, expert_NX = noisy_NE.topk(more)
            load_E = None
            if more > self.active:
                load_E = expected_load(clean_NE, noisy_NE, deviation_NE, best_NX)
            return self._gates(best_NX[:, : self.active], expert_NX[:, : self.active], load_E)

    def _gates(self, best_NA: Tensor, expert_NA: Tensor, load_E: Tensor | None) -> Gates:
        weight_NA = best_NA.softmax(1)
        zeros_E = weight_NA.new_zeros(len(self.widen))
        importance_E = zeros_E.index_add(0, expert_NA.flatten(), weight_NA.flatten())
        if load_E is None:
            load_E = torch.bincount(expert_NA.flatten(), minlength=len(zeros_E)).to(zeros_E)
        return Gates(expert_NA, weight_NA, importance_E, load_E)

    def start(self, x_NW: Tensor, layout: Layout, beam: int) -> Cache:
        """Nothing: the layer has no past."""
        return Cache()

    def step(self, x_BKW: Tensor, cache: Cache) -> Tensor:
        """[B, K, W] the output for one more token of each hypothesis."""
        return self(x_BKW.flatten(0, 1))[0].view_as(x_BKW)


class _Products(torch.autograd.Function):
    """The weighted sum of the outputs of each token's experts, by grouped matrix products.

    Letters: X visits, N * A of them; visit n * A + a is that of token n to its expert a. Sorted
    visits are those of the first expert, then those of the second, and so on. The backward pass
    is written out because it then reuses its large buffers: page faults of fresh ones would cost
    a processor as much as a third of the products.
    """

    @staticmethod
    def forward(
        ctx: Any, x_NW: Tensor, weight_NA: Tensor, expert_NA: Tensor, widen: Tensor, narrow: Tensor
    ) -> Tensor:
        active = expert_NA.shape[1]
        visit_X = expert_NA.flatten().argsort(stable=True)
        rank_X = torch.empty_like(visit_X)  # of each visit among the sorted ones
        rank_X[visit_X] = torch.arange(len(visit_X), device=visit_X.device)
        end_E = torch.bincount(expert_NA.flatten(), minlength=len(widen)).cumsum(0).int()
        sorted_XW = x_NW.index_select(0, visit_X // active)
        hidden_XF = F.grouped_mm(sorted_XW, widen, offs=end_E).relu_()
        out_XW = F.grouped_mm(hidden_XF, narrow, offs=end_E)
        ctx.save_for_backward(
            sorted_XW, hidden_XF, out_XW, weight_NA, visit_X, rank_X, end_E, widen, narrow
        )
        weighted_XW = out_XW * weight_NA.flatten().index_select(0, visit_X)[:, None]
        return _summed(weighted_XW, rank_X, active)

    @staticmethod
    def backward(ctx: Any, grad_NW: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        sorted_XW, hidden_XF, out_XW, weight_NA, visit_X, rank_X, end_E, widen, narrow = (
            ctx.saved_tensors
        )
        active = weight_NA.shape[1]
        grad_XW = grad_NW.index_select(0, visit_X // active)
        grad_weight_X = torch.linalg.vecdot(grad_XW, out_XW).index_select(0, rank_X)
        grad_XW *= weight_NA.flatten().index_select(0, visit_X)[:, None]
        grad_narrow = F.grouped_mm(hidden_XF.T, grad_XW, offs=end_E)
        grad_XF = F.grouped_mm(grad_XW, narrow.mT, offs=end_E)
        torch.ops.aten.threshold_backward.grad_input(grad_XF, hidden_XF, 0, grad_input=grad_XF)
        grad_widen = F.grouped_mm(sorted_XW.T, grad_XF, offs=end_E)
        grad_x = _summed(F.grouped_mm(grad_XF, widen.mT, offs=end_E), rank_X, active)
        return grad_x, grad_weight_X.view_as(weight_NA), None, grad_widen, grad_narrow


def _summed(sorted_XW: Tensor, rank_X: Tensor, active: int) -> Tensor:
    """[N, W] the sum over the visits of each token."""
    rank_NA = rank_X.view(-1, active)
    total = sorted_XW.index_select(0, rank_NA[:, 0])
    for visit in range(1, active):
        total += sorted_XW.index_select(0, rank_NA[:, visit])
    return total


def expected_load(
    clean_NE: Tensor, noisy_NE: Tensor, deviation_NE: Tensor, best_NX: Tensor
) -> Tensor:
    """[E] for each expert the sum over tokens of the probability of being chosen (eq. 8 to 10).

    The probability is that of the expert's noise drawn anew, that of the others as it is: an
    expert among the best must beat the next one, another the last of the best. `best_NX` has the
    best noisy scores, one more than are chosen.
    """
    next_N1, last_N1 = best_NX[:, -1:], best_NX[:, -2:-1]
    to_beat_NE = torch.where(noisy_NE > next_N1, next_N1, last_N1)
    chance_NE: Tensor = torch.special.ndtr((clean_NE - to_beat_NE) / deviation_NE)
    return chance_NE.sum(0)


def squared_variation(x_E: Tensor) -> Tensor:
    """The variance over the squared mean; 0 for a single number."""
    return x_E.var(correction=0) / (x_E.mean() ** 2 + EPSILON)


def _product_dtype(x: Tensor) -> torch.dtype:
    """The type that autocast would give a product of `x`; it does not know grouped ones."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
