"""Train crawl/extract/text_blocks.json, the classifier of paragraphs of plain text; score it.

    python -m benchmarks.train_text_blocks PAGES.jsonl.gz --unmarked FILE [...]
        [--held-out FOLDER] [--out crawl/extract/text_blocks.json]

HTML pages are converted to text by Common Crawl's rules (`wet_text`). Of their paragraphs, those
that the rules of `crawl.paragraphs` keep are the training rows. A paragraph is main text if most of
its runs of four words are in the marked text, or on unmarked pages in the text that the extractor
`fast` finds in the HTML; a FILE of them is a crawl file or one of marked_sources.py. FOLDER holds
other marked pages as in the article extraction benchmark of Scrapinghub; no model that is scored or
stored sees a page of their sites. The threshold is the one at which cross-validation over the sites
of the other marked pages loses LOSS of the marked words. The model file holds the settings and the
hashes of its inputs; the same inputs, settings and versions give the same bytes on the same kind of
machine.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import torch

from benchmarks import hidden_layer
from benchmarks.marked_pages import MarkedPage, read_marked_pages, words
from benchmarks.wet_text import wet_text
from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.main_text import MODEL_FILE as EXTRACTOR_FILE
from wikisum.crawl.extract.merged_lines import split_menus
from wikisum.crawl.extract.text_blocks import TextModel, logits, read_model
from wikisum.crawl.extract.text_features import NAMES, Floats, text_features
from wikisum.crawl.extract.wrapped_lines import join_wrapped_lines
from wikisum.crawl.html import extract_paragraphs
from wikisum.crawl.paragraphs import drop_reasons, split_long
from wikisum.crawl.warc.warc import PageRecord, read_captures

GRAM_WORDS = 4
EPOCHS = 8
BATCH_PARAGRAPHS = 512
WEIGHT_DECAY = 0.05
MAX_WEIGHT_WORDS = 100
UNMARKED_WEIGHT = 0.5
LOSS = 0.005
SETTINGS = {
    "hidden": hidden_layer.HIDDEN,
    "epochs": EPOCHS,
    "batch_paragraphs": BATCH_PARAGRAPHS,
    "learning_rate": hidden_layer.LEARNING_RATE,
    "weight_decay": WEIGHT_DECAY,
    "dropout": hidden_layer.DROPOUT,
    "min_scale": hidden_layer.MIN_SCALE,
    "max_weight_words": MAX_WEIGHT_WORDS,
    "unmarked_weight": UNMARKED_WEIGHT,
    "loss": LOSS,
}
_ADDRESS = re.compile(
    r"<(?:link[^>]*rel=.?canonical.?[^>]*href|meta[^>]*og:url[^>]*content)=[\"']?"
    r"(https?://[^\"'> ]+)"
)


class Rows(NamedTuple):
    """The paragraphs of a page that the rules keep.

    `coverage` is the share of a paragraph's words in the main text, `counts` its number of words.
    """

    site: str
    is_marked: bool
    lines: list[str]
    kept: list[int]
    inputs: Floats
    coverage: Floats
    counts: Floats

    @property
    def is_text(self) -> np.ndarray:
        return np.asarray(self.coverage >= 0.5)


def site_of(address: str) -> str:
    """Return the registered domain of a URL, approximately."""
    parts = (urlsplit(address).hostname or address).removeprefix("www.").split(".")
    return ".".join(parts[-3:] if len(parts) > 2 and len(parts[-2]) <= 3 else parts[-2:])


def make_rows(html: bytes, text: str, site: str, is_marked: bool) -> Rows | None:
    """Return the rows of a page with its main text; None if the rules keep nothing of it."""
    joined = join_wrapped_lines(wet_text(html.decode("utf-8", "replace")))
    split = [piece for line in joined for piece in split_menus(line)]
    lines = [piece for line in split for piece in split_long(line)]
    kept = [i for i, reason in enumerate(drop_reasons(lines)) if reason is None]
    if not kept:
        return None
    marked = set(_grams(words(text)))
    by_line = [words(lines[i]) for i in kept]
    coverage = [np.mean([gram in marked for gram in _grams(found)]) for found in by_line]
    counts = np.array([len(found) for found in by_line], dtype=np.float64)
    inputs = text_features(lines, kept)
    return Rows(site, is_marked, lines, kept, inputs, np.array(coverage), counts)


def _grams(found: list[str]) -> list[tuple[str, ...]]:
    starts = range(max(1, len(found) - GRAM_WORDS + 1))
    return [tuple(found[i : i + GRAM_WORDS]) for i in starts]


def marked_rows(pages: Sequence[MarkedPage]) -> Iterator[Rows]:
    """Yield the rows of marked pages; a page that does not name its URL is a site."""
    for page in pages:
        address = _ADDRESS.search(page.html.decode("utf-8", "replace"))
        site = site_of(address[1]) if address else f"page {page.id}"
        rows = make_rows(page.html, page.text, site, is_marked=True)
        if rows is not None:
            yield rows


def benchmark_rows(folder: Path) -> Iterator[Rows]:
    """Yield the rows of a folder with `ground-truth.json` and `html/ID.html.gz`."""
    for name, entry in json.loads((folder / "ground-truth.json").read_text()).items():
        html = to_utf8(gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), None)
        rows = make_rows(html, entry["articleBody"], site_of(entry["url"]), is_marked=True)
        if rows is not None:
            yield rows


def unmarked_rows(path: Path) -> Iterator[Rows]:
    """Yield the rows of HTML pages, with the fast extractor as teacher."""
    for name, site, html in _html_pages(path):
        try:
            text = "\n".join(extract_paragraphs(html))
        except BadPage as error:
            print(f"{name}: {error}")
            continue
        rows = make_rows(html, text, site, is_marked=False)
        if rows is not None:
            yield rows


def _html_pages(path: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield name, site and HTML of the pages of a crawl file or a file of marked_sources.py."""
    if path.name.endswith(".jsonl.gz"):
        with gzip.open(path) as lines:
            for row in map(json.loads, lines):
                yield row["id"], site_of(row["site"]), row["html"].encode("utf-8", "replace")
        return
    with path.open("rb") as raw:
        for page in read_captures(raw):
            if isinstance(page, PageRecord) and page.kind == "html":
                yield page.url, site_of(page.url), to_utf8(page.payload, page.charset)


def fit(pages: Sequence[Rows], threshold: float = 0.0) -> TextModel:
    """Return a model of these pages."""
    network = hidden_layer.fit(
        np.concatenate([page.inputs for page in pages]),
        np.concatenate([page.is_text for page in pages]),
        np.concatenate(list(map(_weights, pages))),
        epochs=EPOCHS,
        batch_rows=BATCH_PARAGRAPHS,
        weight_decay=WEIGHT_DECAY,
    )
    return read_model(hidden_layer.to_json(network, NAMES, threshold))


def _weights(page: Rows) -> Floats:
    """Return the weight of each paragraph; it grows with its words, and less with the page's."""
    weights = np.sqrt(np.minimum(page.counts, MAX_WEIGHT_WORDS))
    return np.asarray(weights / np.sqrt(weights.sum()) * (1 if page.is_marked else UNMARKED_WEIGHT))


def model_json(model: TextModel, training: Mapping[str, Any] | None = None) -> str:
    """Return the stored form of a model."""
    network = hidden_layer.HiddenLayer(model.bias, model.weights, model.output, model.output_bias)
    return hidden_layer.to_json(network, NAMES, model.threshold, training)


def facts_of_training(files: Sequence[Path]) -> dict[str, Any]:
    """Return what a model depends on: settings, versions, and the hash of each input's content."""
    used = [*files, EXTRACTOR_FILE]  # the teacher of pages without marks
    hashes = {path.name: _content_hash(path) for path in used}
    return {"settings": SETTINGS, "versions": {"torch": version("torch")}, "inputs": hashes}


def _content_hash(path: Path) -> str:
    data = path.read_bytes()
    return sha256(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).hexdigest()


def cross_validate(pages: Sequence[Rows], folds: int) -> list[tuple[Rows, Floats]]:
    """Return each marked page with logits of a model that saw no page of its fold's sites."""
    sites = sorted({page.site for page in pages})
    numbers = np.random.default_rng(0).permutation(len(sites)) % folds
    fold_of = dict(zip(sites, numbers, strict=True))
    scored = []
    for fold in range(folds):
        model = fit([page for page in pages if fold_of[page.site] != fold])
        scored += score((p for p in pages if p.is_marked and fold_of[p.site] == fold), model)
    return scored


def score(pages: Iterable[Rows], model: TextModel) -> list[tuple[Rows, Floats]]:
    """Return each page with the logits of its rows."""
    return [(page, logits(page.lines, page.kept, model)) for page in pages]


def threshold_for(scored: Sequence[tuple[Rows, Floats]], loss: float) -> float:
    """Return the highest threshold at which at most `loss` of the marked words are dropped."""
    values = np.concatenate([found for _, found in scored])
    marked = np.concatenate([page.coverage * page.counts for page, _ in scored])
    order = np.argsort(values)
    lost = np.cumsum(marked[order]) / marked.sum()
    return float(values[order][np.searchsorted(lost, loss, "right")])


def report(name: str, scored: Sequence[tuple[Rows, Floats]], threshold: float) -> None:
    """Print a row of a table: what the rules keep and what is left of it."""
    keep = np.concatenate([found for _, found in scored]) >= threshold
    is_text = np.concatenate([page.is_text for page, _ in scored])
    counts = np.concatenate([page.counts for page, _ in scored])
    marked = np.concatenate([page.coverage * page.counts for page, _ in scored])
    cells = [
        f"{len(scored)}", f"{len(keep):,}", f"{(~is_text).mean():.3f}",
        f"{marked.sum() / counts.sum():.3f}", f"{(~is_text & ~keep).sum() / (~is_text).sum():.3f}",
        f"{(~is_text & keep).sum() / keep.sum():.3f}",
        f"{marked[keep].sum() / counts[keep].sum():.3f}",
        f"{marked[~keep].sum() / marked.sum():.4f}",
        f"{(is_text & ~keep).sum() / is_text.sum():.4f}",
    ]  # fmt: skip
    print(f"| {name} | " + " | ".join(cells) + " |")


HEADER = """| pages | number | paragraphs | junk | precision of words | junk gone | junk after \
| precision after | marked words lost | text paragraphs lost |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def train(pages: Sequence[Rows], held_out: Sequence[Rows], folds: int) -> TextModel:
    """Return a model of all pages but those of held-out sites; print scores on unseen pages."""
    held_sites = {page.site for page in held_out}
    others = [page for page in pages if page.site not in held_sites]
    print(HEADER)
    scored = cross_validate(others, folds)
    threshold = threshold_for(scored, LOSS)
    report("cross-validation", scored, threshold)
    model = fit(others, threshold)
    if held_out:
        report("held out", score(held_out, model), threshold)
    print(f"{len(others)} pages of {len({page.site for page in others})} sites")
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pages", type=Path)
    parser.add_argument("--unmarked", type=Path, nargs="*", default=[])
    parser.add_argument("--held-out", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)  # sums do not depend on the number of cores
    held_out = list(benchmark_rows(options.held_out)) if options.held_out else []
    pages = list(marked_rows(read_marked_pages(options.pages)))
    for path in options.unmarked:
        pages += unmarked_rows(path)
    model = train(pages, held_out, options.folds)
    if options.out:
        truth = [options.held_out / "ground-truth.json"] if options.held_out else []
        training = facts_of_training([options.pages, *options.unmarked, *truth])
        options.out.write_text(model_json(model, training))


if __name__ == "__main__":
    main()
