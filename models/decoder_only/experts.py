"""A sparsely-gated mixture of experts (Shazeer et al. 2017) as the feed-forward part of a layer.

Letters: N tokens, E experts, A active experts per token, W width, F hidden width of an expert.
Every token goes to its best A experts; none is dropped. Tokens are sorted by expert, and all
experts are applied by one grouped matrix product per linear layer.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.decoder_only.caches import Cache
from wikisum.models.decoder_only.gating import Gates, gates
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings


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
        """Return the choice of experts, computed in fp32."""
        with torch.autocast(x_NW.device.type, enabled=False):
            tables = self.gate.weight.float(), self.noise.weight.float()
            return gates(x_NW.float(), *tables, self.active, self.training)

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
        return _summed(out_XW, rank_X.view(-1, active), weight_NA)

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
        grad_sorted_XW = F.grouped_mm(grad_XF, widen.mT, offs=end_E)
        grad_x = _summed(grad_sorted_XW, rank_X.view(-1, active))
        return grad_x, grad_weight_X.view_as(weight_NA), None, grad_widen, grad_narrow


def _summed(sorted_XW: Tensor, rank_NA: Tensor, weight_NA: Tensor | None = None) -> Tensor:
    """[N, W] the sum over the visits of each token, weighted if there are weights."""
    total_NW = sorted_XW.index_select(0, rank_NA[:, 0])
    if weight_NA is not None:
        total_NW *= weight_NA[:, :1]
    for visit in range(1, rank_NA.shape[1]):
        more_NW = sorted_XW.index_select(0, rank_NA[:, visit])
        if weight_NA is None:
            total_NW += more_NW
        else:
            total_NW.addcmul_(more_NW, weight_NA[:, visit : visit + 1])
    return total_NW


def _product_dtype(x: Tensor) -> torch.dtype:
    """The type that autocast would give a product of `x`; it does not know grouped ones."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
