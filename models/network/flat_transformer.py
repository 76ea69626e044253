"""The encoder of the flat transformer: FT of Liu & Lapata 2019, T-ED of Liu et al. 2018.

Title and ranked paragraphs are one long sequence; letters as in `packing.py`, W width.
"""

from torch import Tensor, nn

from wikisum.models.configs import ModelSettings
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.layers import LocalLayer
from wikisum.models.network.packing import Source
from wikisum.models.network.positions import sinusoids


class FlatEncoder(nn.Module):
    """The encoder of Vaswani et al. 2017, over a source of one paragraph an example."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(LocalLayer(settings) for _ in settings.layers)

    def forward(self, embedded_NW: Tensor, source: Source) -> Tensor:
        """[N, W] encoded tokens."""
        table = sinusoids(source.is_token_MT.shape[1], embedded_NW.shape[1]).to(embedded_NW)
        x_NW: Tensor = self.dropout(embedded_NW + table[source.position_N])
        for layer in self.layers:
            x_NW = layer(x_NW, source)
        return x_NW
