"""Sinusoidal positions (Vaswani et al. 2017; equations 7 to 10 of Liu & Lapata 2019)."""

import math

import torch
from torch import Tensor


def sinusoids(count: int, width: int) -> Tensor:
    """[count, width] sine at even and cosine at odd places, wavelengths 2 pi to 20,000 pi.

    `width` is even.
    """
    position_C1 = torch.arange(count, dtype=torch.float32)[:, None]
    rate_H = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angle_CH = position_C1 * rate_H
    return torch.stack([angle_CH.sin(), angle_CH.cos()], -1).flatten(1)
