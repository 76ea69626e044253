"""The learned paragraph ranker of Liu & Lapata 2019, section 3.1.

Shapes: N paragraphs, A articles, T tokens, E embedding, H LSTM output, F features.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.ranker.data.vocab import PAD
from wikisum.ranker.learned.settings import RankerSettings


class SequenceEncoder(nn.Module):
    """One vector for each token, from an LSTM; in both directions if asked (H is then doubled).

    Padding stands at the end, where a forward LSTM meets it last: it changes no real token, and
    no packing is needed, which on a processor is several times slower to train. The backward LSTM
    reads each sequence turned round within its own length.
    """

    def __init__(self, embedding_size: int, hidden_size: int, bidirectional: bool) -> None:
        super().__init__()
        self.forward_lstm = nn.LSTM(embedding_size, hidden_size, batch_first=True)
        self.backward_lstm = (
            nn.LSTM(embedding_size, hidden_size, batch_first=True) if bidirectional else None
        )

    def forward(self, x_NTE: Tensor, length_N: Tensor) -> Tensor:
        u_NTH: Tensor = self.forward_lstm(x_NTE)[0]
        if self.backward_lstm is None:
            return u_NTH
        turned_NT1 = _turned_places(length_N, x_NTE.shape[1])[..., None]
        back_NTH = self.backward_lstm(x_NTE.take_along_dim(turned_NT1, 1))[0]
        return torch.cat([u_NTH, back_NTH.take_along_dim(turned_NT1, 1)], -1)


def _turned_places(length_N: Tensor, token_count: int) -> Tensor:
    """[N, T] the place that each place changes with when a sequence is read backwards."""
    place_T = torch.arange(token_count, device=length_N.device)
    mirrored_NT = length_N[:, None] - 1 - place_T
    return torch.where(mirrored_NT >= 0, mirrored_NT, place_T)


def masked_max(x_NTF: Tensor, length_N: Tensor) -> Tensor:
    """[N, F] the maximum over each sequence's real tokens; -inf for one without tokens."""
    is_padding_NT = torch.arange(x_NTF.shape[1], device=length_N.device) >= length_N[:, None]
    x_NTF = x_NTF.masked_fill(is_padding_NT[..., None], -torch.inf)
    # amax would share the gradient among ties, and its way back is slower
    return x_NTF.max(1).values


class Ranker(nn.Module):
    """Scores how well paragraphs suit a title, as logits; the paper's s is their sigmoid.

    Equation 4 is worked out in two halves, the title's once a paragraph, not once a token; and
    tanh is taken after the maximum of equation 5, which is the same since tanh only rises.
    Dropout stands before both linear layers; on the title's half one mask serves all tokens of a
    paragraph. A title or paragraph without tokens counts as a vector of zeros.
    """

    def __init__(self, settings: RankerSettings) -> None:
        super().__init__()
        self.settings = settings
        width = settings.hidden_size * (2 if settings.bidirectional else 1)
        self.embedding = nn.Embedding(settings.vocab_size, settings.embedding_size, PAD)
        sizes = settings.embedding_size, settings.hidden_size, settings.bidirectional
        self.title_encoder = SequenceEncoder(*sizes)
        self.paragraph_encoder = SequenceEncoder(*sizes)
        self.features = nn.Linear(2 * width, settings.feature_size)
        self.score = nn.Linear(settings.feature_size, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(
        self,
        title_AT: Tensor,
        title_length_A: Tensor,
        article_N: Tensor,
        paragraph_NT: Tensor,
        paragraph_length_N: Tensor,
    ) -> Tensor:
        """[N] logits; `article_N` says which title goes with each paragraph. T is at least 1."""
        title_AH = self.encode_titles(title_AT, title_length_A)
        u_NTH = self.paragraph_encoder(self.embedding(paragraph_NT), paragraph_length_N)
        for_token_FH, for_title_FH = self.features.weight.chunk(2, 1)
        from_title_NF = F.linear(
            self.dropout(title_AH[article_N]), for_title_FH, self.features.bias
        )
        from_tokens_NF = masked_max(F.linear(self.dropout(u_NTH), for_token_FH), paragraph_length_N)
        p_NF = torch.tanh(from_tokens_NF + from_title_NF)
        p_NF = p_NF.masked_fill(paragraph_length_N[:, None] == 0, 0.0)
        return self.score(self.dropout(p_NF)).squeeze(-1)

    def encode_titles(self, title_AT: Tensor, title_length_A: Tensor) -> Tensor:
        """[A, H] the maximum over the title's tokens (equations 1 and 3)."""
        u_ATH = self.title_encoder(self.embedding(title_AT), title_length_A)
        return masked_max(u_ATH, title_length_A).masked_fill(title_length_A[:, None] == 0, 0.0)
