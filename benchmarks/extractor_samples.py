"""Label the blocks of pages for the training of the fast extractor.

A block of a marked page is labeled by aligning the page's words with the marked text's. Marks that
a program drafted (those of pages with a `kind` but `news`) are not followed where they contradict
trafilatura and resiliparse. Of an unmarked page, only blocks count on which a first model and both
agree.
"""

import gzip
import json
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import numpy as np
from extractors import resiliparse_text_alone, trafilatura_fast_text
from marked_pages import MarkedPage, words
from marked_sources import site_of

from wikisum.crawl.extract.block_features import features
from wikisum.crawl.extract.blocks import Blocks, read_blocks
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.main_text import Model, main_blocks
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.crawl.whitespace import normalize_whitespace

GRAM_WORDS = 4
MIN_MAIN_WORDS = 30  # a page with fewer weighs no more than this
MAX_PAGE_WORDS = 30_000  # the time of an alignment grows with the square of this
LONG_CHARS = 80  # a shared text of this length is hardly chance
# How much a page counts in training. Other kinds, such as lists of products, are left out.
KIND_WEIGHTS = {"": 1.0, "news": 1.0, "article": 1.0, "documentation": 0.7, "forum": 0.5}
PERSONS_KINDS = ("", "news")  # marked by persons, or by a rule of a person for the site
MIN_FOUND = 0.75  # of the words of a drafted mark, in the page; else it is of another page
MAX_DOUBTFUL = 0.3  # of the words of the main text; else the mark is cut short


class Sample(NamedTuple):
    """The blocks of a page as training rows: inputs [blocks, features], labels and weights."""

    inputs: np.ndarray
    is_main: np.ndarray
    weights: np.ndarray


class PeerTexts(NamedTuple):
    """The main text that two other extractors find in a page, on one line each."""

    trafilatura: str
    resiliparse: str


class UnmarkedPage(NamedTuple):
    """A page in UTF-8, and what other extractors find in it.

    A person may have named texts that belong to the main text (`required`) or not (`forbidden`).
    """

    html: bytes
    peers: PeerTexts
    required: Sequence[str] = ()
    forbidden: Sequence[str] = ()


def peer_texts(html: bytes) -> PeerTexts:
    return PeerTexts(
        normalize_whitespace(trafilatura_fast_text(html)),
        normalize_whitespace(resiliparse_text_alone(html)),
    )


def read_unmarked_pages(path: Path, without: Collection[str] = frozenset()) -> list[UnmarkedPage]:
    """Return the HTML pages of a crawl file or of a file that `marked_sources.py snippets` wrote.

    Pages of the sites `without` are left out.
    """
    if path.name.endswith(".jsonl.gz"):
        with gzip.open(path) as lines:
            rows = [row for row in map(json.loads, lines) if row["site"] not in without]
        return [
            UnmarkedPage(html, peer_texts(html), row["with"], row["without"])
            for row in rows
            for html in [row["html"].encode("utf-8", "replace")]
        ]
    with path.open("rb") as raw:
        pages = [c for c in read_captures(raw) if isinstance(c, PageRecord) and c.kind == "html"]
    by_page = (
        to_utf8(page.payload, page.charset) for page in pages if site_of(page.url) not in without
    )
    return [UnmarkedPage(html, peer_texts(html)) for html in by_page]


def covered_words(page_words: Sequence[str], marked: Sequence[str]) -> np.ndarray:
    """Return 1 for each word of the page that an alignment of the two texts matches, else 0."""
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
    """Return for each block the share of its words that are marked, and the number of its words."""
    by_block = [words(text) for text in blocks.texts]
    covered = covered_words([word for found in by_block for word in found], words(marked))
    counts = np.array([len(found) for found in by_block])
    sums = np.concatenate(([0.0], np.cumsum(covered)))
    ends = np.cumsum(counts)
    return (sums[ends] - sums[ends - counts]) / np.maximum(counts, 1), counts


def marked_sample(page: MarkedPage) -> Sample | None:
    """Return the training rows of a marked page, or None if it is of no use."""
    blocks = read_blocks(page.html)
    weight = KIND_WEIGHTS.get(page.kind, 0)
    if not blocks.texts or not weight or sum(map(len, blocks.texts)) > 6 * MAX_PAGE_WORDS:
        return None
    coverage, counts = block_coverage(blocks, page.text)
    is_main, main_words = coverage > 0.5, float((coverage * counts).sum())
    found = _sample(blocks, is_main, counts, main_words)
    if page.kind in PERSONS_KINDS:
        return found
    peers = peer_texts(page.html)
    is_doubtful = ~is_main & _is_long(blocks)
    for text in peers:
        is_doubtful &= _holds(text, blocks)
    if (
        main_words < MIN_FOUND * len(words(page.text))
        or counts[is_doubtful].sum() > MAX_DOUBTFUL * main_words
    ):
        return None
    return found._replace(weights=weight * found.weights * ~is_doubtful)


def agreed_sample(page: UnmarkedPage, model: Model) -> Sample | None:
    """Return the training rows of an unmarked page, or None if there is no main text.

    Main text is what the model and trafilatura find, or both peers, if it is long; furniture is
    what neither peer finds; all else weighs nothing. What a person named overrules them.
    """
    blocks = read_blocks(page.html)
    if not blocks.texts:
        return None
    in_trafilatura, in_resiliparse = (_holds(text, blocks) for text in page.peers)
    by_model = np.array(main_blocks(blocks, model))
    is_main = in_trafilatura & (by_model | (in_resiliparse & _is_long(blocks)))
    is_agreed = is_main | ~(in_trafilatura | in_resiliparse)
    is_required, is_forbidden = (
        np.array([any(part in text for part in parts) for text in blocks.texts])
        for parts in (page.required, page.forbidden)
    )
    is_named = is_required ^ is_forbidden
    is_main, is_agreed = np.where(is_named, is_required, is_main), is_agreed | is_named
    counts = np.array([len(words(block)) for block in blocks.texts])
    if not is_main.any():
        return None
    found = _sample(blocks, is_main, counts, counts[is_main].sum())
    return found._replace(weights=found.weights * is_agreed)


def _sample(blocks: Blocks, is_main: np.ndarray, counts: np.ndarray, main_words: float) -> Sample:
    """Weigh a block by its share of the main text, and all pages alike."""
    weights = np.sqrt(np.minimum(counts / max(main_words, MIN_MAIN_WORDS), 1))
    weights /= np.sqrt(max(weights.sum(), 1e-9))
    found = features(blocks)
    inputs = np.concatenate((found.numbers.T, found.above, found.above * found.rarity), axis=1)
    return Sample(inputs.astype(np.float32), is_main, weights)


def _is_long(blocks: Blocks) -> np.ndarray:
    return np.array([len(text) >= LONG_CHARS for text in blocks.texts])


def _holds(text: str, blocks: Blocks) -> np.ndarray:
    """Return whether a peer's text has each block, or of a long one its beginning or its end."""
    return np.array([
        block in text
        if len(block) < 2 * LONG_CHARS
        else block[:LONG_CHARS].rstrip() in text or block[-LONG_CHARS:].lstrip() in text
        for block in blocks.texts
    ])  # fmt: skip
