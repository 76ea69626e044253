"""Select the blocks of a page that are its main text, with a small neural network.

The model (main_text.json) is trained by benchmarks/train_extractor.py on marked real pages.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikisum.crawl.extract.block_features import NUMBER_NAMES, Features, Floats, features
from wikisum.crawl.extract.blocks import Blocks, read_blocks
from wikisum.crawl.extract.hints import BIT_NAMES

MODEL_FILE = Path(__file__).with_name("main_text.json")
TINY_PAGE_CHARS = 250
SMALL_PAGE_CHARS = 1000
MAX_LINK_DENSITY = 0.5
LINK_LINE_DENSITY = 0.95
LINK_LINE_CHARS = 60
LINK_LINE_LOGIT = 2.0  # a long line that is a link is rarely main text below it
MIN_PROSE = 250  # of the feature; a selection with less misses the text
PROSE_MARGIN = 2.0  # of the logit, below the best prose
_FURNITURE = ("nav", "footer", "aside", "form", "hint_cookie")
_LOG_PROSE = NUMBER_NAMES.index("log_prose")
_EMBEDDED = BIT_NAMES.index("hint_embedded")
_BIT_INDEX = {name: i for i, name in enumerate(BIT_NAMES)}


class Model(NamedTuple):
    """A network with one hidden layer. A block is main text if its logit is over `threshold`.

    hidden = max(0, bias + `numbers` . numbers + sum over bits above of (`above` + rarity x `rare`))
    logit = `output` . hidden + `output_bias`

    `bias` and `output` are [hidden]; `numbers`, `above` and `rare` are [hidden, features].
    """

    threshold: float
    bias: Floats
    numbers: Floats
    above: Floats
    rare: Floats
    output: Floats
    output_bias: float


def fast_text(html: bytes) -> tuple[str, list[str]]:
    """Return (title, paragraphs of the main text) of UTF-8, one paragraph per block or row."""
    page = read_blocks(html)
    keep = main_blocks(page, default_model())
    return page.title, [text for text, kept in zip(page.texts, keep, strict=True) if kept]


def main_blocks(page: Blocks, model: Model) -> list[bool]:
    """Return for each block whether it is main text.

    Text in menus, forms, asides and footers never is. Of the rest, everything is on a tiny page,
    and everything but links on a small one. If the model selects hardly any prose, the best prose
    and what comes close to it is main text. A quoted post belongs to the text before it.
    """
    if not page.texts:
        return []
    found = features(page)
    other = ~_is_below(found, _FURNITURE)
    logit = logits(found, model)
    is_link_line = (found.link_density > LINK_LINE_DENSITY) & (found.chars > LINK_LINE_CHARS)
    threshold = np.where(is_link_line, max(model.threshold, LINK_LINE_LOGIT), model.threshold)
    keep = other & (logit > threshold)
    chars = found.chars[other].sum()
    if chars < TINY_PAGE_CHARS:
        keep = other
    elif chars < SMALL_PAGE_CHARS:
        keep |= other & (found.link_density <= MAX_LINK_DENSITY)
    log_prose = found.numbers[_LOG_PROSE]
    is_prose = other & (log_prose > 0)
    if is_prose.any() and np.expm1(log_prose[keep]).sum() < MIN_PROSE:
        keep |= is_prose & (logit > min(model.threshold, logit[is_prose].max() - PROSE_MARGIN))
    last = None
    is_post = found.above[:, _EMBEDDED] > 0
    if chars >= TINY_PAGE_CHARS and is_post.any():
        for index in np.flatnonzero(other):
            if not is_post[index]:
                last = keep[index]
            elif last is not None:
                keep[index] = last
    return [bool(kept) for kept in keep]


def logits(found: Features, model: Model) -> Floats:
    """Return the model's log-odds that each block is main text."""
    of_bits = model.above + model.rare * found.rarity
    hidden = model.numbers @ found.numbers + of_bits @ found.above.T + model.bias[:, None]
    return np.asarray(model.output @ np.maximum(hidden, 0) + model.output_bias)


def _is_below(found: Features, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which blocks are below such an element, ignoring kinds that hold most prose."""
    indexes = [i for name in names if found.rarity[i := _BIT_INDEX[name]] > 0.5]
    return np.asarray(found.above[:, indexes].any(axis=1))


@cache
def default_model() -> Model:
    """Return the model that comes with the package."""
    return read_model(MODEL_FILE.read_text())


def read_model(text: str) -> Model:
    """Parse a model stored as JSON. Raises KeyError if a feature has no weights."""
    stored = json.loads(text)
    weights = stored["weights"]
    return Model(
        threshold=stored["threshold"],
        bias=np.array(stored["bias"]),
        numbers=np.array([weights[name] for name in NUMBER_NAMES]).T,
        above=np.array([weights[f"above_{name}"] for name in BIT_NAMES]).T,
        rare=np.array([weights[f"rare_{name}"] for name in BIT_NAMES]).T,
        output=np.array(stored["output"]),
        output_bias=stored["output_bias"],
    )
