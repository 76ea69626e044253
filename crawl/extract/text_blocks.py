"""Find the notices, teasers and menus among the prose of a plain-text page, with a small network.

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

from wikisum.crawl.boilerplate import footnotes, is_caption
from wikisum.crawl.extract.text_features import NAMES, Floats, text_features
from wikisum.crawl.menus import dated_entries, is_menu, is_path, is_share_bar
from wikisum.crawl.paragraphs import MAX_BOILERPLATE_WORDS

MODEL_FILE = Path(__file__).with_name("text_blocks.json")
MIN_LINES = 5  # of a page whose lines say something about each other


class TextModel(NamedTuple):
    """A network with one hidden layer. A paragraph with a logit below `threshold` is furniture.

    logit = `output` . max(0, `bias` + `weights` . features) + `output_bias`

    `weights` is [hidden, features], the features by `text_features.NAMES`; `bias` and `output` are
    [hidden].
    """

    threshold: float
    bias: Floats
    weights: Floats
    output: Floats
    output_bias: float


def mark_furniture(
    lines: Sequence[str], reasons: Sequence[str | None], model: TextModel | None = None
) -> list[str | None]:
    """Return the reasons for which lines are dropped, with those that plain text has besides.

    `footnote`: one of several numbered notes. `caption`: of a figure or photo. `furniture`: the
    model says so, or the line is a menu, a path to a page, a row of links to social networks or one
    of several entries with a date.
    `reasons` are those of `drop_reasons`; only lines without one are examined. On pages of fewer
    than 5 lines neither the model nor the rules for footnotes and dates are used.
    """
    marked = list(reasons)
    kept = [i for i, reason in enumerate(reasons) if reason is None]
    for i in kept:
        if _is_furniture(lines[i], len(lines)):
            marked[i] = "furniture"
        elif is_caption(lines[i]):
            marked[i] = "caption"
    if not kept or len(lines) < MIN_LINES:
        return marked
    model = model or default_model()
    for i, value in zip(kept, logits(lines, kept, model), strict=True):
        if value < model.threshold:
            marked[i] = "furniture"
    for i in footnotes(lines, kept):
        marked[i] = "footnote"
    for i in dated_entries(lines, kept):
        marked[i] = "furniture"
    return marked


def _is_furniture(line: str, line_count: int) -> bool:
    """Return whether rules recognize a line as furniture.

    On a page of few lines a long line is none: it may hold the whole text.
    """
    if line.count(" ") < MAX_BOILERPLATE_WORDS:
        return is_path(line) or is_share_bar(line) or is_menu(line)
    return line_count >= MIN_LINES and is_menu(line)


def logits(lines: Sequence[str], kept: Sequence[int], model: TextModel) -> Floats:
    """Return the model's log-odds that each line of `kept` is main text."""
    hidden = np.maximum(text_features(lines, kept) @ model.weights.T + model.bias, 0)
    return np.asarray(hidden @ model.output + model.output_bias)


@cache
def default_model() -> TextModel:
    """Return the model that comes with the package."""
    return read_model(MODEL_FILE.read_text())


def read_model(text: str) -> TextModel:
    """Parse a model stored as JSON. Raises KeyError if a feature has no weights."""
    stored = json.loads(text)
    return TextModel(
        threshold=stored["threshold"],
        bias=np.array(stored["bias"]),
        weights=np.array([stored["weights"][name] for name in NAMES]).T,
        output=np.array(stored["output"]),
        output_bias=stored["output_bias"],
    )
