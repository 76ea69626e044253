"""Train crawl/extract/main_text.json, the model of the fast extractor; score held-out folds.

    python benchmarks/train_extractor.py PAGES.jsonl.gz... [--unmarked FILE...]
        [--without-sites TEST.jsonl.gz...] [--out crawl/extract/main_text.json]

A network with one hidden layer over the features of a block learns the labels of
extractor_samples.py. Folds are by site; --folds 0 scores none. Pages of the sites of
--without-sites are left out of everything, so that those files can test the result. Without --out
nothing is written. The model file holds the settings and the hashes of its inputs; the same inputs,
settings and versions give the same bytes on the same kind of machine.
"""

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import hidden_layer
import numpy as np
import torch
from extractor_samples import (
    KIND_WEIGHTS,
    Sample,
    UnmarkedPage,
    agreed_sample,
    marked_sample,
    read_unmarked_pages,
)
from marked_pages import (
    MarkedPage,
    bootstrap_interval,
    f1_of_means,
    precision_recall,
    read_marked_pages,
)

from wikisum.crawl.extract.block_features import NUMBER_NAMES
from wikisum.crawl.extract.blocks import read_blocks
from wikisum.crawl.extract.hints import BIT_NAMES
from wikisum.crawl.extract.main_text import Model, main_blocks, read_model

EPOCHS = 12
BATCH_BLOCKS = 2048
WEIGHT_DECAY = 0.01
THRESHOLD = 0.6  # chosen on held-out folds and 85 pages of Zyte's set, see train_extractor.md
SETTINGS = {
    "hidden": hidden_layer.HIDDEN,
    "epochs": EPOCHS,
    "batch_blocks": BATCH_BLOCKS,
    "learning_rate": hidden_layer.LEARNING_RATE,
    "weight_decay": WEIGHT_DECAY,
    "dropout": hidden_layer.DROPOUT,
    "min_scale": hidden_layer.MIN_SCALE,
    "kind_weights": KIND_WEIGHTS,
}
NAMES = (
    *NUMBER_NAMES,
    *(f"above_{name}" for name in BIT_NAMES),
    *(f"rare_{name}" for name in BIT_NAMES),
)


def fit(samples: Sequence[Sample | None]) -> Model:
    """Return a model of the pages that have a sample."""
    used = [s for s in samples if s is not None]
    network = hidden_layer.fit(
        np.concatenate([s.inputs for s in used]),
        np.concatenate([s.is_main for s in used]),
        np.concatenate([s.weights for s in used]),
        epochs=EPOCHS,
        batch_rows=BATCH_BLOCKS,
        weight_decay=WEIGHT_DECAY,
    )
    return read_model(hidden_layer.to_json(network, NAMES, THRESHOLD))


def fit_twice(samples: Sequence[Sample | None], unmarked: Sequence[UnmarkedPage]) -> Model:
    """Return a model of marked pages, and of what it and peers agree on in unmarked ones."""
    model = fit(samples)
    if not unmarked:
        return model
    return fit([*samples, *(agreed_sample(page, model) for page in unmarked)])


def stored(model: Model, training: Mapping[str, Any] | None = None) -> str:
    """Return the stored form of a model that was read."""
    weights = np.concatenate((model.numbers, model.above, model.rare), axis=1)
    network = hidden_layer.HiddenLayer(model.bias, weights, model.output, model.output_bias)
    return hidden_layer.to_json(network, NAMES, THRESHOLD, training)


def facts_of_training(
    marked: Sequence[Path], unmarked: Sequence[Path], without: Sequence[Path]
) -> dict[str, Any]:
    """Return what a model depends on: settings, versions, and for each input file its hash."""
    files = {"marked": marked, "unmarked": unmarked, "without_sites": without}
    return {
        "settings": SETTINGS,
        "versions": {name: version(name) for name in ("torch", "trafilatura", "resiliparse")},
        **{use: {path.name: content_hash(path) for path in paths} for use, paths in files.items()},
    }


def content_hash(path: Path) -> str:
    """Return the SHA-256 of what a gzip file holds."""
    with gzip.open(path) as content:
        return sha256(content.read()).hexdigest()


def extract(page: MarkedPage, model: Model) -> str:
    """Return the main text that a model finds."""
    blocks = read_blocks(page.html)
    kept = main_blocks(blocks, model)
    return "\n".join(text for text, keep in zip(blocks.texts, kept, strict=True) if keep)


def held_out_models(
    pages: Sequence[MarkedPage],
    samples: Sequence[Sample | None],
    unmarked: Sequence[UnmarkedPage],
    folds: int = 10,
    seed: int = 0,
) -> list[Model]:
    """Return for each page a model that was trained without the sites of its fold."""
    sites = sorted({page.site for page in pages})
    fold_by_site = dict(
        zip(sites, np.random.default_rng(seed).permutation(len(sites)) % folds, strict=True)
    )
    fold_of = [fold_by_site[page.site] for page in pages]
    models = [
        fit_twice([s for s, f in zip(samples, fold_of, strict=True) if f != held_out], unmarked)
        for held_out in range(folds)
    ]
    return [models[f] for f in fold_of]


def read_pages(paths: Sequence[Path], without: Sequence[Path] = ()) -> list[MarkedPage]:
    """Return the pages to train on, without those of the sites of other files."""
    sites = sites_of(without)
    pages = [page for path in paths for page in read_marked_pages(path)]
    return [page for page in pages if page.kind in KIND_WEIGHTS and page.site not in sites]


def sites_of(paths: Sequence[Path]) -> set[str]:
    """Return the sites of the pages of marked files."""
    return {page.site for path in paths for page in read_marked_pages(path)}


def show_held_out(
    pages: Sequence[MarkedPage], models: Sequence[Model], seed: int
) -> dict[str, float]:
    """Print the scores of each kind of page in held-out folds and return the F1 by kind."""
    scores = np.array(
        [precision_recall(extract(p, m), p.text) for p, m in zip(pages, models, strict=True)]
    )
    found = {}
    for kind in sorted({page.kind for page in pages}):
        of_kind = scores[[page.kind == kind for page in pages]]
        low, high = bootstrap_interval(of_kind)
        precision, recall = of_kind.mean(axis=0)
        name = kind or "marked by a person"
        found[name] = round(f1_of_means(of_kind), 4)
        print(
            f"| {seed} | {name} | {len(of_kind)} | {found[name]:.3f} | {low:.3f} - {high:.3f} "
            f"| {precision:.3f} | {recall:.3f} |"
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--unmarked", type=Path, nargs="*", default=[])
    parser.add_argument("--without-sites", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)  # sums do not depend on the number of cores
    pages = read_pages(options.pages, options.without_sites)
    others = sites_of(options.without_sites)
    unmarked = [page for path in options.unmarked for page in read_unmarked_pages(path, others)]
    samples = [marked_sample(page) for page in pages]
    print("| split | pages | count | held-out F1 | interval | precision | recall |")
    results = [
        show_held_out(pages, held_out_models(pages, samples, unmarked, options.folds, seed), seed)
        for seed in range(options.seeds if options.folds else 0)
    ]
    counts = {"pages": len(pages), "unmarked": len(unmarked), "folds": options.folds}
    print(json.dumps({**counts, "held_out_f1": results}))
    if options.out:
        training = facts_of_training(options.pages, options.unmarked, options.without_sites)
        options.out.write_text(stored(fit_twice(samples, unmarked), training))


if __name__ == "__main__":
    main()
