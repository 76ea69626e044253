"""Windows over the source, and the steps at which static windows move (Schueller et al. 2020).

Letters: B examples, Q queries (target positions or hypotheses), L source tokens, N windows of the
example that has most.
"""

import math

import numpy as np
import torch
from torch import Tensor

from wikisum.models.pointer.settings import PointerSettings
from wikisum.ranker.data.ragged import Ints

UNMEASURED_SHARE = 0.1  # summary tokens per source token where there is no training split
NEVER = 1 << 40  # a step that no summary reaches


def window_count(length: int, size: int, stride: int) -> int:
    """Return the number of windows that a source of `length` tokens is divided into.

    >>> [window_count(length, size=400, stride=380) for length in (400, 401, 780, 781)]
    [1, 2, 2, 3]
    """
    return 1 if length <= size else math.ceil((length - size) / stride) + 1


def window_counts(length_B: Tensor, size: int, stride: int) -> Tensor:
    """Return the number of windows of each source, [B]."""
    return 1 + ((length_B - size).clamp(min=0) + stride - 1) // stride


def window_mask(window_BQ: Tensor, is_source_BL: Tensor, size: int, stride: int) -> Tensor:
    """Return which source tokens each query sees, [B, Q, L]: those of its window."""
    index_L = torch.arange(is_source_BL.shape[1], device=is_source_BL.device)
    start_BQ1 = (window_BQ * stride)[..., None]
    return (index_L >= start_BQ1) & (index_L < start_BQ1 + size) & is_source_BL[:, None]


def window_weights(length: int, settings: PointerSettings) -> list[float]:
    """Return the share of each window of a source in the summary; the shares sum to 1.

    Window i weighs exp(-k (1 + i d^i)). The last one is weighed down by the part of its stride
    that has tokens. With k = 0 or d = 0 all windows weigh alike, with d = 1 the weights fall by a
    constant factor, with d > 1 only the first ones count.
    """
    size, stride = settings.window_tokens, settings.window_stride
    count = window_count(length, size, stride)
    i = np.arange(count, dtype=np.float64)
    with np.errstate(over="ignore"):  # an infinite decline is a weight of 0
        decline = i * settings.window_d**i if settings.window_k else i
        weights = np.exp(-settings.window_k * decline)  # exp(-k) is common to all
    weights[-1] *= _last_part(length, size, stride)
    return [float(weight) for weight in weights / weights.sum()]


def _last_part(length: int, size: int, stride: int) -> float:
    """Return the part of the last stride that has tokens; 1 if the windows divide evenly."""
    if length <= size:
        return 1.0
    return ((length - size) % stride or stride) / stride


def expected_length(length: int, settings: PointerSettings) -> int:
    """Return the expected tokens of the summary of a source (Schueller et al. 2020, eq. 3)."""
    return int(length * (settings.summary_share or UNMEASURED_SHARE))


def shift_steps(length: int, settings: PointerSettings) -> list[int]:
    """Return the decoding steps at which static windows move on, one for each window but the first.

    Each window has its share of the expected length. Steps count from 0; two equal ones skip a
    window.

    >>> even = PointerSettings(window_tokens=4, window_stride=4, window_k=0, summary_share=0.5)
    >>> shift_steps(12, even)
    [2, 4]
    """
    ends = np.cumsum(window_weights(length, settings)) * expected_length(length, settings)
    # sums such as 0.1 + 0.2 must not miss a whole number by rounding
    return [int(end) for end in np.floor(ends[:-1] + 1e-9)]


def batch_shift_steps(length_B: Tensor, settings: PointerSettings) -> Tensor:
    """Return the steps of `shift_steps` for each source, [B, N - 1]; missing ones are NEVER."""
    rows = [shift_steps(length, settings) for length in length_B.tolist()]
    steps = np.full((len(rows), max(map(len, rows), default=0)), NEVER, dtype=np.int64)
    for row, mine in zip(steps, rows, strict=True):
        row[: len(mine)] = mine
    return torch.from_numpy(steps).to(length_B.device)


def share_of_lengths(source_E: Ints, target_E: Ints) -> float:
    """Return summary tokens per source token: the ratio of the 90th percentiles of lengths.

    The percentile is the least length that at least 90 % of the examples do not exceed.
    """
    source, target = (
        float(np.percentile(lengths, 90, method="inverted_cdf")) for lengths in (source_E, target_E)
    )
    return target / source
