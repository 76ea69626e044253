"""Vectors of tokens in context: the encoder of a spaCy model of named entities, with numpy.

The network embeds each token by some of its attributes, independently of the others, and then
applies convolutions over three tokens. Products of matrices always have the same number of rows,
for all of which BLAS rounds alike, so that the vector of a token does not depend, in any bit, on
the other texts of a batch.
"""

from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Keys = NDArray[np.uint64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

BLOCK = 256  # rows that a function gets; more are hardly faster
_FEW_ROWS = 8  # which all kernels of OpenBLAS that were tried round alike
MAX_KNOWN = 50_000  # words whose vectors are kept, 20 MB; more than a batch has tokens
_EPSILON = np.float32(1e-8)  # as thinc adds it to the variance


class DenseLayer(NamedTuple):
    """A linear layer with maxout and layer normalization, from K values to O.

    `weights` are [K, P * O] and `bias` [P * O] for P pieces; `gain` and `shift` are [O].
    """

    weights: Floats
    bias: Floats
    gain: Floats
    shift: Floats

    def __call__(self, rows: Floats) -> Floats:
        """Return [n, O] for rows [n, K]."""
        return in_blocks(self._block, rows, len(self.gain))

    def _block(self, rows: Floats) -> Floats:
        best = maxout(_product(rows, self.weights) + self.bias, len(self.gain))
        best -= best.mean(axis=1, keepdims=True)
        variance = np.square(best).mean(axis=1, keepdims=True) + _EPSILON
        best *= variance ** np.float32(-0.5)
        best *= self.gain
        best += self.shift
        return best


def maxout(values: Floats, width: int) -> Floats:
    """Return the largest of the pieces, [n, width], of values [n, pieces * width]."""
    best = values[:, :width].copy()
    for start in range(width, values.shape[1], width):
        np.maximum(best, values[:, start : start + width], out=best)
    return best


def product(rows: Floats, weights: Floats) -> Floats:
    """Return `rows @ weights`."""
    return in_blocks(lambda block: _product(block, weights), rows, weights.shape[1])


def _product(block: Floats, weights: Floats) -> Floats:
    """Return `block @ weights` for a block of 256 rows, all of which are rounded alike."""
    few = block.reshape(-1, rows_alike(*weights.shape), block.shape[1])
    found: Floats = (few @ weights).reshape(BLOCK, -1)
    return found


@cache
def rows_alike(size: int, width: int) -> int:
    """Return the rows, 256 or 8, of products with [size, width] that this processor rounds alike.

    OpenBLAS's kernels for AVX2 (without AVX-512) add up in another order for half of every 12 rows.
    """
    chance = np.random.default_rng(0)
    row, weights = (chance.normal(size=(n, size)).astype(np.float32) for n in (1, width))
    found = np.repeat(row, BLOCK, axis=0) @ np.ascontiguousarray(weights.T)
    return BLOCK if (found == found[0]).all() else _FEW_ROWS


def in_blocks(function: Callable[[Floats], Floats], rows: Floats, width: int) -> Floats:
    """Return [n, width], what a function of 256 rows returns for rows [n, K].

    The rounding of a product depends on its shape, so the last block is filled up.
    """
    out = np.empty((len(rows), width), np.float32)
    block = np.zeros((BLOCK, rows.shape[1]), np.float32)
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        block[: len(part)] = part
        out[start : start + BLOCK] = function(block)[: len(part)]
    return out


class Encoder:
    """The part of the network that computes the vectors of tokens, of `width` values.

    `embed` is thinc's layer from attributes, [n, A], to the vectors of the attributes side by
    side; `mix` makes one vector of these, and each of the `convolutions` reads three tokens.
    """

    def __init__(self, embed: Any, mix: DenseLayer, convolutions: Sequence[DenseLayer]) -> None:
        self.embed = embed
        self.mix = mix
        self.convolutions = convolutions
        self.width = len(mix.gain)
        self._lock = Lock()
        self._row_of: dict[int, int] = {}
        self._known = np.zeros((MAX_KNOWN, self.width), np.float32)

    @property
    def reach(self) -> int:
        """The number of tokens to either side that a vector in context depends on."""
        return len(self.convolutions)

    def words(self, keys: Keys, attributes: Keys) -> Floats:
        """Return the vectors of tokens without their context, [n, width].

        Tokens with equal `keys` [n] have equal `attributes` [n, A]. Vectors are kept by key.
        """
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        with self._lock:
            known = self._of_words(distinct.tolist(), attributes[first])
        vectors: Floats = known[inverse]
        return vectors

    def _of_words(self, keys: list[int], attributes: Keys) -> Floats:
        """Return the vectors of distinct words and keep the new ones; forget all if full."""
        if len(self._row_of) + len(keys) > len(self._known):
            self._row_of.clear()
            self._known = np.zeros((max(MAX_KNOWN, len(keys)), self.width), np.float32)
        new = [i for i, key in enumerate(keys) if key not in self._row_of]
        if new:
            start, end = len(self._row_of), len(self._row_of) + len(new)
            self._known[start:end] = self.mix(self.embed.predict(attributes[new]))
            self._row_of.update(zip((keys[i] for i in new), range(start, end), strict=True))
        vectors: Floats = self._known[[self._row_of[key] for key in keys]]
        return vectors

    def in_context(self, vectors: Floats) -> Floats:
        """Return the vectors with their context, [n, width], of those without it, [n, width].

        Texts are `reach` rows of zeros apart, so that they do not change each other.
        """
        for layer in self.convolutions:
            padded = np.pad(vectors, ((1, 1), (0, 0))).reshape(-1)
            windows = sliding_window_view(padded, 3 * self.width)[:: self.width]
            vectors = vectors + layer(windows)
        return vectors
