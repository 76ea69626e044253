"""Targets and their loss in the ids of a pretrained model.

Letters: B examples, S target positions, Y real labels, V tokens of the model, K hypotheses.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.pretrained.frame import Frame
from wikisum.models.vocabulary.pretrained import OFFSET
from wikisum.ranker.data.vocab import END
from wikisum.ranker.training.loss import Loss


def model_ids(id_X: Tensor, frame: Frame) -> Tensor:
    """Return ids of targets as the model has them; special ids but END become padding."""
    special = torch.where(id_X == END, frame.end, frame.pad)
    return torch.where(id_X >= OFFSET, id_X - OFFSET, special)


def cross_entropy(logits_YV: Tensor, label_Y: Tensor, smoothing: float) -> Loss:
    """Return the loss of labels in the model's ids; smoothing is spread over all of its tokens."""
    log_YV = logits_YV.float().log_softmax(-1)
    target = F.nll_loss(log_YV, label_Y, reduction="sum")
    total = target
    if smoothing:
        total = (1 - smoothing) * target - smoothing * log_YV.mean(-1).sum()
    return Loss(total, len(label_Y), target.detach())


def our_logits(logits_BKV: Tensor, frame: Frame) -> Tensor:
    """Return the logits in our ids, [..., OFFSET + V]: the model's end becomes END."""
    special = logits_BKV.new_full((*logits_BKV.shape[:-1], OFFSET), -torch.inf)
    special[..., END] = logits_BKV[..., frame.end]
    out = torch.cat([special, logits_BKV], -1)
    out[..., OFFSET + frame.end] = -torch.inf
    return out


class PretrainedModel(SummaryModel):
    """Base class of models of transformers: what follows from the logits of target labels."""

    frame: Frame

    def _logits(self, batch: Batch, memory: Any) -> Tensor:
        """Return the logits of the real target labels, [Y, V], in the ids of the model."""
        raise NotImplementedError

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """Return the loss of the target labels; inputs that begin every target are not learned."""
        logits_YV = self._logits(batch, self.encode(batch.source))
        return cross_entropy(logits_YV, model_ids(batch.label_Y, self.frame), smoothing)

    def log_probabilities(self, batch: Batch, memory: Any) -> Tensor:
        """Return the log-probability of each real target label, [Y]."""
        log_YV = self._logits(batch, memory).float().log_softmax(-1)
        return log_YV.gather(-1, model_ids(batch.label_Y, self.frame)[:, None])[:, 0]
