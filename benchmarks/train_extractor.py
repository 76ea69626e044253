"""Train crawl/main_text.json, the block classifier of the fast extractor; score held-out folds.

    python benchmarks/train_extractor.py PAGES.jsonl.gz [--unmarked CRAWL.warc.gz]
        [--out crawl/main_text.json]

A block is labeled by aligning the page's words with the marked text's; a logistic regression
over crawl.block_features learns the labels. Then it learns unmarked pages too, of which only
blocks count whose fate the first model, trafilatura and resiliparse agree on: they are of more
sites and more kinds than the marked ones. Without --out nothing is written.
"""

import argparse
import json
import time
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import numpy as np
from extractors import resiliparse_text_alone, trafilatura_fast_text
from marked_pages import (
    MarkedPage,
    bootstrap_interval,
    f1_of_means,
    precision_recall,
    read_marked_pages,
    words,
)
from sklearn.linear_model import LogisticRegression

from wikisum.crawl.extract.block_features import NUMBER_NAMES, features
from wikisum.crawl.extract.blocks import Blocks, read_blocks
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.hints import BIT_NAMES
from wikisum.crawl.extract.main_text import Model, main_blocks, read_model
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.crawl.whitespace import normalize_whitespace

GRAM_WORDS = 4
REGULARISATION = 0.03
# Losing main text costs more than keeping furniture, which paragraph filters look at again.
THRESHOLD = float(np.log(0.4 / 0.6))
SMALLEST_SCALE = 0.2  # so that hints that few pages have do not weigh more than common ones
SMALLEST_MAIN_TEXT = 30  # words; a page with fewer weighs no more than this
LONG_CHARS = 80  # so much of a page's text is no accident in a peer's
NAMES = (
    *NUMBER_NAMES,
    *(f"above_{name}" for name in BIT_NAMES),
    *(f"rare_{name}" for name in BIT_NAMES),
)


class Sample(NamedTuple):
    """A page's blocks as training rows: `inputs` blocks x features, labels and weights a block."""

    inputs: np.ndarray
    is_main: np.ndarray
    weights: np.ndarray


class UnmarkedPage(NamedTuple):
    """A page, and the main text on one line that trafilatura and resiliparse find in it."""

    html: bytes
    trafilatura: str
    resiliparse: str


def read_unmarked_pages(path: Path) -> list[UnmarkedPage]:
    """The HTML pages of a crawl file."""
    with path.open("rb") as raw:
        pages = [c for c in read_captures(raw) if isinstance(c, PageRecord) and c.kind == "html"]
    by_page = (to_utf8(page.payload, page.charset) for page in pages)
    return [
        UnmarkedPage(
            html,
            normalize_whitespace(trafilatura_fast_text(html)),
            normalize_whitespace(resiliparse_text_alone(html)),
        )
        for html in by_page
    ]


def covered_words(page_words: Sequence[str], marked: Sequence[str]) -> np.ndarray:
    """1 for each word of the page that an alignment of the two texts matches, else 0."""
    covered = np.zeros(len(page_words))
    if min(len(page_words), len(marked)) < GRAM_WORDS:
        return np.isin(np.array(page_words, dtype=object), list(marked)).astype(float)
    grams = [
        [tuple(text[i : i + GRAM_WORDS]) for i in range(len(text) - GRAM_WORDS + 1)]
        for text in (page_words, marked)
    ]
    for match in SequenceMatcher(None, *grams, autojunk=False).get_matching_blocks():
        if match.size:
            covered[match.a : match.a + match.size + GRAM_WORDS - 1] = 1
    return covered


def block_coverage(blocks: Blocks, marked: str) -> tuple[np.ndarray, np.ndarray]:
    """For each block the share of its words that are marked, and the number of its words."""
    by_block = [words(text) for text in blocks.texts]
    covered = covered_words([word for found in by_block for word in found], words(marked))
    counts = np.array([len(found) for found in by_block])
    sums = np.concatenate(([0.0], np.cumsum(covered)))
    ends = np.cumsum(counts)
    return (sums[ends] - sums[ends - counts]) / np.maximum(counts, 1), counts


def _sample(blocks: Blocks, is_main: np.ndarray, counts: np.ndarray, main_words: float) -> Sample:
    """A block weighs by its share of the main text, each page alike."""
    weights = np.sqrt(np.minimum(counts / max(main_words, SMALLEST_MAIN_TEXT), 1))
    weights /= np.sqrt(max(weights.sum(), 1e-9))
    found = features(blocks)
    inputs = np.concatenate((found.numbers.T, found.above, found.above * found.rarity), axis=1)
    return Sample(inputs, is_main, weights)


def sample(page: MarkedPage) -> Sample | None:
    """Training rows of a marked page."""
    blocks = read_blocks(page.html)
    if not blocks.texts:
        return None
    coverage, counts = block_coverage(blocks, page.text)
    return _sample(blocks, coverage > 0.5, counts, (coverage * counts).sum())


def agreed_sample(page: UnmarkedPage, model: Model) -> Sample | None:
    """Training rows of an unmarked page: main text is what the model and trafilatura find, or both
    peers, if it is long; furniture is what neither peer finds; all else weighs nothing.
    """
    blocks = read_blocks(page.html)
    if not blocks.texts:
        return None
    in_trafilatura, in_resiliparse = (
        np.array([_holds(text, block) for block in blocks.texts])
        for text in (page.trafilatura, page.resiliparse)
    )
    is_long = np.array([len(block) >= LONG_CHARS for block in blocks.texts])
    is_main = in_trafilatura & (np.array(main_blocks(blocks, model)) | (in_resiliparse & is_long))
    is_agreed = is_main | ~(in_trafilatura | in_resiliparse)
    counts = np.array([len(words(block)) for block in blocks.texts])
    if not is_main.any():
        return None
    found = _sample(blocks, is_main, counts, counts[is_main].sum())
    return found._replace(weights=found.weights * is_agreed)


def _holds(text: str, block: str) -> bool:
    """Whether a peer's text has the block, or of a long one its beginning or its end."""
    if len(block) < 2 * LONG_CHARS:
        return block in text
    return block[:LONG_CHARS].rstrip() in text or block[-LONG_CHARS:].lstrip() in text


def fit(samples: Sequence[Sample | None]) -> Model:
    """A model of these pages, learned on scaled inputs, told in plain ones."""
    used = [s for s in samples if s is not None]
    inputs = np.concatenate([s.inputs for s in used])
    weights = np.concatenate([s.weights for s in used])
    counted = weights > 0
    mean = inputs.mean(axis=0)
    scale = np.maximum(inputs.std(axis=0), SMALLEST_SCALE)
    regression = LogisticRegression(C=REGULARISATION, max_iter=500)
    regression.fit(
        (inputs[counted] - mean) / scale,
        np.concatenate([s.is_main for s in used])[counted],
        sample_weight=weights[counted] / weights.mean(),
    )
    coefficients = regression.coef_[0] / scale
    bias = float(regression.intercept_[0] - coefficients @ mean)
    return read_model(model_json(bias, coefficients))


def fit_twice(samples: Sequence[Sample | None], unmarked: Sequence[UnmarkedPage]) -> Model:
    """A model of marked pages, and of what it agrees about with peers on unmarked ones."""
    model = fit(samples)
    if not unmarked:
        return model
    return fit([*samples, *(agreed_sample(page, model) for page in unmarked)])


def model_json(bias: float, weights: np.ndarray) -> str:
    """The stored form of a model."""
    by_name = {name: round(float(w), 5) for name, w in zip(NAMES, weights, strict=True)}
    stored = {"bias": round(bias, 5), "threshold": round(THRESHOLD, 5), "weights": by_name}
    return json.dumps(stored, indent=1) + "\n"


def extract(page: MarkedPage, model: Model) -> str:
    """The main text that a model finds."""
    blocks = read_blocks(page.html)
    kept = main_blocks(blocks, model)
    return "\n".join(text for text, keep in zip(blocks.texts, kept, strict=True) if keep)


def held_out_models(
    pages: Sequence[MarkedPage],
    unmarked: Sequence[UnmarkedPage],
    folds: int = 10,
    seed: int = 0,
) -> list[Model]:
    """For each page a model that was trained without it and the other pages of its fold."""
    samples = [sample(page) for page in pages]
    fold_of = np.random.default_rng(seed).permutation(len(pages)) % folds
    models = [
        fit_twice([s for s, f in zip(samples, fold_of, strict=True) if f != held_out], unmarked)
        for held_out in range(folds)
    ]
    return [models[f] for f in fold_of]


def main() -> None:
    """Cross-validate, then train on all pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--unmarked", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    pages = read_marked_pages(options.pages)
    unmarked = read_unmarked_pages(options.unmarked) if options.unmarked else []
    results = []
    for seed in range(options.seeds):
        start = time.process_time()
        models = held_out_models(pages, unmarked, options.folds, seed)
        scores = np.array(
            [precision_recall(extract(p, m), p.text) for p, m in zip(pages, models, strict=True)]
        )
        low, high = bootstrap_interval(scores)
        precision, recall = scores.mean(axis=0)
        f1 = f1_of_means(scores)
        results.append(round(f1, 4))
        print(
            f"split {seed}: held-out F1 {f1:.4f} [{low:.3f}, {high:.3f}], precision "
            f"{precision:.4f}, recall {recall:.4f} ({time.process_time() - start:.0f} s CPU)"
        )
    counts = {"pages": len(pages), "unmarked": len(unmarked), "folds": options.folds}
    print(json.dumps({**counts, "held_out_f1": results}))
    if options.out:
        model = fit_twice([sample(page) for page in pages], unmarked)
        weights = np.concatenate((model.numbers, model.above, model.rare))
        options.out.write_text(model_json(model.bias, weights))


if __name__ == "__main__":
    main()
