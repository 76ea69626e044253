"""The final distribution: generate a token of the vocabulary, or copy one of the source.

See et al. 2017, eq. 9: P(w) = p P_vocab(w) + (1 - p) (attention to the occurrences of w). Ids from
the size of the vocabulary on are words of the source that the vocabulary lacks.

Letters: B examples, Q queries, L source tokens, Y labels, V vocabulary, X extended vocabulary.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from wikisum.models.network.loss import SLICE_LOGITS
from wikisum.models.pointer.shifts import SHIFT
from wikisum.ranker.data.vocab import PAD

TINY = 1e-30  # the attention to a label that can be copied counts as this at least


class OutputLayer(NamedTuple):
    """The last linear layer: table [V, W] and bias [V], or None."""

    table_VW: Tensor
    bias_V: Tensor | None

    def log_probabilities(self, x: Tensor, is_closed: Tensor | None) -> Tensor:
        """Return [..., V] in fp32; where `is_closed` [...], a shift has no probability."""
        logits = F.linear(x, self.table_VW, self.bias_V).float()
        if is_closed is not None:
            is_shift_V = torch.arange(logits.shape[-1], device=logits.device) == SHIFT
            logits = logits.masked_fill(is_closed[..., None] & is_shift_V, float("-inf"))
        return logits.log_softmax(-1)


def final_log_probabilities(
    vocab_log_BQV: Tensor, generate_BQ: Tensor, weight_BQL: Tensor, id_BL: Tensor, size: int
) -> Tensor:
    """Return the log-probability of each token of the extended vocabulary, [B, Q, `size`]."""
    generate_BQ1 = generate_BQ.float().sigmoid()[..., None]
    extra = size - vocab_log_BQV.shape[-1]
    mixed_BQX = F.pad(vocab_log_BQV.exp() * generate_BQ1, (0, extra))
    id_BQL = id_BL[:, None].expand(-1, weight_BQL.shape[1], -1)
    return mixed_BQX.scatter_add(-1, id_BQL, weight_BQL.float() * (1 - generate_BQ1)).log()


class LabelLogs(NamedTuple):
    """Log-probabilities [Y]: those of labels, and their mean over all other tokens but padding."""

    label_Y: Tensor
    others_Y: Tensor


def vocab_log_probabilities(
    x_YW: Tensor, layer: OutputLayer, label_Y: Tensor, is_closed_Y: Tensor | None
) -> LabelLogs:
    """Return the log-probabilities of labels in the vocabulary, a slice of the labels at a time.

    A slice is computed again in the backward pass, so that the logits of all labels are never in
    memory together.
    """
    rows = max(1, SLICE_LOGITS // layer.table_VW.shape[0])
    found = []
    for start in range(0, max(len(x_YW), 1), rows):
        part = slice(start, start + rows)
        closed = None if is_closed_Y is None else is_closed_Y[part]
        work = x_YW[part], layer, label_Y[part], closed
        is_whole = rows >= len(x_YW)
        found.append(_slice(*work) if is_whole else checkpoint(_slice, *work, use_reentrant=False))
    return LabelLogs(*(torch.cat(parts) for parts in zip(*found, strict=True)))


def _slice(
    x_YW: Tensor, layer: OutputLayer, label_Y: Tensor, is_closed_Y: Tensor | None
) -> tuple[Tensor, Tensor]:
    log_YV = layer.log_probabilities(x_YW, is_closed_Y)
    label_log_Y = log_YV.gather(1, label_Y[:, None])[:, 0]
    possible_YV = log_YV.masked_fill(log_YV.isneginf(), 0.0)
    sum_Y = possible_YV.sum(1) - log_YV[:, PAD] - label_log_Y
    return label_log_Y, sum_Y / (log_YV.shape[1] - 2)


def copied_log_probabilities(
    vocab_log_Y: Tensor, generate_Y: Tensor, copied_Y: Tensor, can_copy_Y: Tensor,
    can_generate_Y: Tensor,
) -> Tensor:  # fmt: skip
    """Return the log-probability of each label as a mixture, [Y], in fp32.

    `copied_Y` is the attention to the occurrences of the label. A label must be in the vocabulary
    or among the tokens that can be copied. Works on logarithms, so that nothing underflows.
    """
    nothing = torch.full_like(vocab_log_Y, float("-inf"))
    copy_log_Y = copied_Y.float().clamp_min(TINY).log()
    generated_Y = F.logsigmoid(generate_Y.float()) + vocab_log_Y
    return torch.logaddexp(
        torch.where(can_generate_Y, generated_Y, nothing),
        torch.where(can_copy_Y, F.logsigmoid(-generate_Y.float()) + copy_log_Y, nothing),
    )
