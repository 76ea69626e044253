"""The hierarchical encoder of Liu & Lapata 2019, section 3.2.

Letters as in `packing.py`, and W width, Z pooling heads, D width of a head.
"""

import torch
from torch import Tensor, nn

from wikisum.models.configs import GLOBAL, ModelSettings
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.layers import NORM_EPSILON, FeedForward, LocalLayer, Residual
from wikisum.models.network.packing import Source, gathered, spread
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.products import Linear


class MultiHeadPooling(nn.Module):
    """Paragraphs as Z vectors each: sums of projected tokens, weighted by each head (eq. 13-16).

    Equation 16 prints the scores where it means the weights of equation 15. The released form has
    no W_c and shares one normalisation among the heads.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.heads = settings.pool_heads
        width = settings.width // self.heads
        self.score = Linear(settings.width, self.heads, bias=settings.released)
        self.value = Linear(settings.width, settings.width, bias=settings.released)
        self.dropout = Dropout(settings.attention_dropout)
        if settings.released:
            self.mix = None
            self.norm = nn.ModuleList([nn.LayerNorm(width, NORM_EPSILON)])
        else:
            self.mix = nn.Parameter(torch.empty(self.heads, width, width))
            self.norm = nn.ModuleList(nn.LayerNorm(width, NORM_EPSILON) for _ in range(self.heads))

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        """[M, Z, D] paragraph vectors."""
        scored = torch.cat([self.score(x_NW), self.value(x_NW)], -1)
        scored_MT = spread(scored, source.slot_in_paragraph_N, source.is_token_MT)
        score_MTZ, value_MTW = scored_MT[..., : self.heads], scored_MT[..., self.heads :]
        score_MTZ = score_MTZ.masked_fill(~source.is_token_MT[..., None], float("-inf"))
        weight_MTZ = self.dropout(score_MTZ.softmax(1))
        value_MTZD = value_MTW.reshape(*value_MTW.shape[:2], self.heads, -1)
        pooled_MZD = torch.einsum("mtz,mtzd->mzd", weight_MTZ, value_MTZD)
        if self.mix is None:
            normed: Tensor = self.norm[0](pooled_MZD)
            return normed
        mixed_MZD = torch.einsum("mzd,zed->mze", pooled_MZD, self.mix)
        return torch.stack([n(m) for n, m in zip(self.norm, mixed_MZD.unbind(1), strict=True)], 1)


class InterParagraphAttention(nn.Module):
    """Each head's paragraphs look at those of the same example (eq. 17-20), unscaled.

    One head may follow a graph instead of its own weights (eq. 24). The released form shares one
    set of projections, with biases, among the heads, and scales.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.heads = settings.pool_heads
        self.width = settings.width // self.heads
        self.graph_head = settings.graph_head % self.heads if settings.graph != "none" else None
        self.dropout = Dropout(settings.attention_dropout)
        self.released = settings.released
        sets = 1 if settings.released else self.heads
        self.weight = nn.Parameter(torch.empty(sets, 3 * self.width, self.width))
        self.bias = nn.Parameter(torch.zeros(3 * self.width)) if settings.released else None

    def forward(self, head_MZD: Tensor, source: Source) -> Tensor:
        """[M, Z * D] the context vectors, side by side."""
        weight = self.weight.expand(self.heads, -1, -1)
        projected_MZE = torch.einsum("mzd,zed->mze", head_MZD, weight)
        if self.bias is not None:
            projected_MZE = projected_MZE + self.bias
        projected_BPC = spread(projected_MZE.flatten(1), source.slot_M, source.is_paragraph_BP)
        by_head = *projected_BPC.shape[:2], self.heads, 3 * self.width
        projected_BZPE = projected_BPC.view(by_head).transpose(1, 2)
        query_BZPD, key_BZPD, value_BZPD = projected_BZPE.chunk(3, -1)
        score_BZPP = query_BZPD @ key_BZPD.transpose(-1, -2)
        if self.released:
            score_BZPP = score_BZPP * self.width**-0.5
        may_see = source.is_paragraph_BP[:, None, None]
        weight_BZPP = score_BZPP.masked_fill(~may_see, float("-inf")).softmax(-1)
        weight_BZPP = self._with_graph(self.dropout(weight_BZPP), source)
        context_BPC = (weight_BZPP @ value_BZPD).transpose(1, 2).flatten(2)
        return gathered(context_BPC, source.slot_M)

    def _with_graph(self, weight_BZPP: Tensor, source: Source) -> Tensor:
        if self.graph_head is None:
            return weight_BZPP
        if source.graph_BPP is None:
            raise ValueError("a model with a graph head was given no graph")
        heads = list(weight_BZPP.unbind(1))
        heads[self.graph_head] = source.graph_BPP.to(weight_BZPP.dtype)
        return torch.stack(heads, 1)


class GlobalLayer(nn.Module):
    """Paragraphs exchange what they hold, and each token is told (section 3.2.3).

    The paper adds the context inside the feed-forward step alone (eq. 22, 23); the released form
    keeps it in the token. With `pre_norm` tokens are normalised before they are pooled, too.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.pooling = MultiHeadPooling(settings)
        self.attention = InterParagraphAttention(settings)
        self.fuse = Linear(settings.width, settings.width, bias=settings.released)
        self.feedforward = FeedForward(settings)
        self.dropout = Dropout(settings.dropout)
        self.to_feedforward = Residual(settings)
        self.norm = nn.LayerNorm(settings.width, NORM_EPSILON) if settings.pre_norm else None
        self.keeps_context = settings.released

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        pooled_MZD = self.pooling(x_NW if self.norm is None else self.norm(x_NW), source)
        context_MW = self.dropout(self.fuse(self.attention(pooled_MZD, source)))
        context_NW = context_MW.index_select(0, source.paragraph_N)
        out_NW: Tensor
        if self.keeps_context:
            out_NW = self.to_feedforward(x_NW + context_NW, self.feedforward)
        else:
            out_NW = self.to_feedforward(x_NW, lambda x: self.feedforward(x + context_NW))
        return out_NW


class HierarchicalEncoder(nn.Module):
    """Local and global layers in any mix over tokens with two positions each (eq. 9, 10).

    Half of a position is the paragraph's rank, half the token's place in it; without
    `paragraph_position` the place alone has the whole width.
    """

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.paragraph_position = settings.paragraph_position
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(
            GlobalLayer(settings) if kind == GLOBAL else LocalLayer(settings)
            for kind in settings.layers
        )

    def forward(self, embedded_NW: Tensor, source: Source) -> Tensor:
        """[N, W] encoded tokens."""
        x_NW: Tensor = self.dropout(embedded_NW + self._positions(embedded_NW, source))
        for layer in self.layers:
            x_NW = layer(x_NW, source)
        return x_NW

    def _positions(self, like_NW: Tensor, source: Source) -> Tensor:
        """[N, W] the sum term of equation 10."""
        rows, width = (
            max(source.is_token_MT.shape[1], source.is_paragraph_BP.shape[1]),
            like_NW.shape[1],
        )
        if not self.paragraph_position:
            return sinusoids(rows, width).to(like_NW)[source.position_N]
        table = sinusoids(rows, width // 2).to(like_NW)
        return torch.cat([table[source.rank_N], table[source.position_N]], -1)
