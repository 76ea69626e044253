"""The hierarchical transformer of Liu & Lapata 2019, section 3.2.

Letters as in `packing.py`, and W width, Z pooling heads, D width of a head.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wikisum.models.network.dropout import Dropout
from wikisum.models.network.encoder_decoder import EncoderDecoder
from wikisum.models.network.layers import NORM_EPSILON, FeedForward, LocalLayer, Residual
from wikisum.models.network.packing import Source, pad, unpad
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.presets import (
    PHT_DECODING,
    PHT_SHAPE,
    PHT_TRAIN,
    TINY_DECODING,
    TINY_SHAPE,
    TINY_SOURCE,
    TINY_TRAIN,
)
from wikisum.models.network.settings import EncoderDecoderSettings
from wikisum.models.network.spec import ModelSpec
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import HIERARCHICAL
from wikisum.ranker.setting import require, setting

GRAPHS = ("none", "similarity", "discourse")
LOCAL, GLOBAL = "L", "G"
PARAGRAPH, TOKEN = POSITION_ORDERS = ("paragraph", "token")


@dataclass(frozen=True)
class HierarchicalSettings(EncoderDecoderSettings):
    """Settings of the hierarchical transformer.

    `layers` spells the encoder from its input up, L a local and G a global layer, in any mix.
    `released` builds the global layer as the authors' released code does, not as the paper says.
    """

    layers: str = setting(
        "LLLLLGG", "encoder layers from the input up, L a local and G a global layer"
    )
    released: bool = setting(False, "build global layers as in the authors' released code")
    paragraph_position: bool = setting(True, "add the rank of the paragraph to each token")
    position_order: str = setting(
        "paragraph", "first half of a position vector: the paragraph's rank (as in the paper) or "
        "the token's position (as in the released code)", POSITION_ORDERS,
    )  # fmt: skip
    pooling_heads: int | None = setting(
        None, "number of heads of the paragraph pooling (default: as many as --heads)", at_least=1
    )
    graph: str = setting("none", "graph that one head of the global layers follows", GRAPHS)
    graph_head: int = setting(-1, "index of the head that follows the graph")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            bool(self.layers) and set(self.layers) <= {LOCAL, GLOBAL},
            f"--layers may only contain L and G, not {self.layers!r}",
        )
        require(
            self.width % self.pool_heads == 0,
            f"--width {self.width} does not divide into {self.pool_heads} pooling heads",
        )
        if self.graph != "none":
            require(GLOBAL in self.layers, f"--graph {self.graph} needs a global layer")
            require(
                -self.pool_heads <= self.graph_head < self.pool_heads,
                f"--graph-head {self.graph_head}: there are {self.pool_heads} heads",
            )

    @property
    def pool_heads(self) -> int:
        """The number of heads of the paragraph pooling."""
        return self.pooling_heads or self.heads


class MultiHeadPooling(nn.Module):
    """Z vectors per paragraph: sums of projected tokens, weighted by each head (eq. 13-16).

    Equation 16 prints the scores where it means the weights of equation 15. The released form has
    no W_c and shares one layer normalization among the heads.
    """

    def __init__(self, settings: HierarchicalSettings) -> None:
        super().__init__()
        self.heads = settings.pool_heads
        width = settings.width // self.heads
        self.score = nn.Linear(settings.width, self.heads, bias=settings.released)
        self.value = nn.Linear(settings.width, settings.width, bias=settings.released)
        self.dropout = Dropout(settings.attention_dropout)
        if settings.released:
            self.mix = None
            self.norm = nn.ModuleList([nn.LayerNorm(width, NORM_EPSILON)])
        else:
            self.mix = nn.Parameter(torch.empty(self.heads, width, width))
            self.norm = nn.ModuleList(nn.LayerNorm(width, NORM_EPSILON) for _ in range(self.heads))

    def forward(self, x_NW: Tensor, source: Source) -> Tensor:
        """Return the paragraph vectors, [M, Z, D]."""
        scored = torch.cat([self.score(x_NW), self.value(x_NW)], -1)
        scored_MT = pad(scored, source.slot_in_paragraph_N, source.is_token_MT)
        score_MTZ, value_MTW = scored_MT[..., : self.heads], scored_MT[..., self.heads :]
        score_MTZ = score_MTZ.masked_fill(~source.is_token_MT[..., None], float("-inf"))
        weight_MTZ = self.dropout(score_MTZ.softmax(1))
        value_MTZD = value_MTW.reshape(*value_MTW.shape[:2], self.heads, -1)
        pooled_MZD = torch.einsum("mtz,mtzd->mzd", weight_MTZ, value_MTZD)
        if self.mix is None:
            return self.norm[0](pooled_MZD)
        mixed_MZD = torch.einsum("mzd,zed->mze", pooled_MZD, self.mix)
        return torch.stack([n(m) for n, m in zip(self.norm, mixed_MZD.unbind(1), strict=True)], 1)


class InterParagraphAttention(nn.Module):
    """Each head's paragraphs attend to those of the same example (eq. 17-20), unscaled.

    One head may follow a graph instead of its own weights (eq. 24). The released form shares one
    set of projections, with biases, among the heads, and scales.
    """

    def __init__(self, settings: HierarchicalSettings) -> None:
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
        """Return the context vectors of all heads, concatenated, [M, Z * D]."""
        weight = self.weight.expand(self.heads, -1, -1)
        projected_MZE = torch.einsum("mzd,zed->mze", head_MZD, weight)
        if self.bias is not None:
            projected_MZE = projected_MZE + self.bias
        projected_BPC = pad(projected_MZE.flatten(1), source.slot_M, source.is_paragraph_BP)
        by_head = *projected_BPC.shape[:2], self.heads, 3 * self.width
        projected_BZPE = projected_BPC.view(by_head).transpose(1, 2)
        query_BZPD, key_BZPD, value_BZPD = projected_BZPE.chunk(3, -1)
        score_BZPP = query_BZPD @ key_BZPD.transpose(-1, -2)
        if self.released:
            score_BZPP = score_BZPP * self.width**-0.5
        mask = source.is_paragraph_BP[:, None, None]
        weight_BZPP = score_BZPP.masked_fill(~mask, float("-inf")).softmax(-1)
        weight_BZPP = self._with_graph(self.dropout(weight_BZPP), source)
        context_BPC = (weight_BZPP @ value_BZPD).transpose(1, 2).flatten(2)
        return unpad(context_BPC, source.slot_M)

    def _with_graph(self, weight_BZPP: Tensor, source: Source) -> Tensor:
        if self.graph_head is None:
            return weight_BZPP
        if source.graph_BPP is None:
            raise ValueError("the model has a graph head, but the batch has no graph")
        heads = list(weight_BZPP.unbind(1))
        heads[self.graph_head] = source.graph_BPP.to(weight_BZPP.dtype)
        return torch.stack(heads, 1)


class GlobalLayer(nn.Module):
    """Paragraphs attend to each other, and each token receives its context (section 3.2.3).

    The paper adds the context inside the feed-forward step alone (eq. 22, 23); the released form
    keeps it in the token. With `pre_norm` tokens are normalized before they are pooled, too.
    """

    def __init__(self, settings: HierarchicalSettings) -> None:
        super().__init__()
        self.pooling = MultiHeadPooling(settings)
        self.attention = InterParagraphAttention(settings)
        self.fuse = nn.Linear(settings.width, settings.width, bias=settings.released)
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
    """Local and global layers in any mix, over tokens with two positions each (eq. 9, 10).

    Half of a position vector is the rank of the paragraph, half the position of the token in it, in
    the order of the setting `position_order`; without `paragraph_position` the position alone has
    the whole width.
    """

    def __init__(self, settings: HierarchicalSettings) -> None:
        super().__init__()
        self.paragraph_position = settings.paragraph_position
        self.position_order = settings.position_order
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(
            GlobalLayer(settings) if kind == GLOBAL else LocalLayer(settings)
            for kind in settings.layers
        )

    def forward(self, embedded_NW: Tensor, source: Source) -> Tensor:
        """Return the encoded tokens, [N, W]."""
        x_NW: Tensor = self.dropout(embedded_NW + self._positions(embedded_NW, source))
        for layer in self.layers:
            x_NW = layer(x_NW, source)
        return x_NW

    def _positions(self, like_NW: Tensor, source: Source) -> Tensor:
        """Return the position vectors of equation 10, [N, W]."""
        rows, width = (
            max(source.is_token_MT.shape[1], source.is_paragraph_BP.shape[1]),
            like_NW.shape[1],
        )
        if not self.paragraph_position:
            return sinusoids(rows, width).to(like_NW)[source.position_N]
        table = sinusoids(rows, width // 2).to(like_NW)
        halves = [table[source.rank_N], table[source.position_N]]
        return torch.cat(halves if self.position_order == PARAGRAPH else halves[::-1], -1)


def build(settings: HierarchicalSettings) -> EncoderDecoder:
    """Return a new hierarchical transformer."""
    encoder = HierarchicalEncoder(settings)
    return EncoderDecoder(settings, encoder, xavier_embeddings=settings.released)


_DECODING = DecodingSettings(max_tokens=400)

SPEC = ModelSpec(
    name="ht",
    settings=HierarchicalSettings,
    build=build,
    source=HIERARCHICAL,
    graph=lambda settings: str(settings.graph),
    presets={
        # Liu & Lapata 2019: five local and two global layers; the depth of the decoder is that of
        # the released checkpoint. The paper's "learning rate 2e-5" is read as the released
        # schedule's peak of 2.096e-3. At that rate layers learn only with the norm before each
        # sublayer, as in the released code: benchmarks/preset_curves.md. Summaries may be as long
        # as the longest lead it learns from.
        "ht-paper": RunSettings(
            HierarchicalSettings(pre_norm=True, attention_dropout=0.1), decoding=_DECODING
        ),
        # the same with the norm after each sublayer, as equations 11, 12, 22 and 23 have it
        "ht-paper-literal": RunSettings(
            HierarchicalSettings(attention_dropout=0.1), decoding=_DECODING
        ),
        # the command in the README of the released code: 15,343,952 parameters at 32,000 subwords
        "ht-readme": RunSettings(
            HierarchicalSettings(
                layers="LLLLLLGG", decoder_layers=1, attention_dropout=0.1, pre_norm=True,
                released=True, position_order="token",
            ),
            train=TrainSettings(steps=1_000_000, update_batches=16),
            decoding=DecodingSettings(min_tokens=20, max_tokens=400),
        ),
        # a baseline of the PHT paper: three local and three global layers
        "ht-pht": RunSettings(
            HierarchicalSettings(**PHT_SHAPE, layers="LLLGGG"),
            SourceSettings(max_paragraphs=30), PHT_TRAIN, PHT_DECODING,
        ),
        "tiny": RunSettings(
            HierarchicalSettings(**TINY_SHAPE, layers="LLG"), TINY_SOURCE, TINY_TRAIN, TINY_DECODING
        ),
    },
)  # fmt: skip
