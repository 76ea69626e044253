"""Find the notices, teasers and menus among the prose of a plain-text page, with a linear model.

Rules decide which paragraphs are sentences (`crawl.paragraphs`); the model decides which of these
belong to the page's main text. It (text_blocks.json) is trained by benchmarks/train_text_blocks.py
on real HTML pages that were converted to text by Common Crawl's rules.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wikisum.crawl.extract.text_features import NAMES, Floats, text_features

MODEL_FILE = Path(__file__).with_name("text_blocks.json")
MIN_LINES = 5  # of a page whose lines say something about each other


class TextModel(NamedTuple):
    """The weights of the linear model. A paragraph whose logit is below `threshold` is furniture.

    logit = bias + features . weights, the features by `text_features.NAMES`.
    """

    bias: float
    threshold: float
    weights: Floats


def mark_furniture(
    lines: Sequence[str], reasons: Sequence[str | None], model: TextModel | None = None
) -> list[str | None]:
    """Return the reasons for which lines are dropped, with `furniture` for those that are.

    `reasons` are those of `drop_reasons`; only lines without a reason are looked at. Pages of
    fewer than 5 lines are left as they are.
    """
    marked = list(reasons)
    kept = [i for i, reason in enumerate(reasons) if reason is None]
    if not kept or len(lines) < MIN_LINES:
        return marked
    model = model or default_model()
    for i, value in zip(kept, logits(lines, kept, model), strict=True):
        if value < model.threshold:
            marked[i] = "furniture"
    return marked


def logits(lines: Sequence[str], kept: Sequence[int], model: TextModel) -> Floats:
    """Return the model's log-odds that each line of `kept` is main text."""
    return np.asarray(text_features(lines, kept) @ model.weights + model.bias)


@cache
def default_model() -> TextModel:
    """Return the model that comes with the package."""
    return read_model(MODEL_FILE.read_text())


def read_model(text: str) -> TextModel:
    """Parse a model stored as JSON. Raises KeyError if a feature has no weight."""
    stored = json.loads(text)
    weights = np.array([stored["weights"][name] for name in NAMES])
    return TextModel(stored["bias"], stored["threshold"], weights)
