"""Real pages with their main text marked by a person, and the measure of how well it is found.

The files are JSONL, plain or gzip, with one page per line: `{"id", "html", "text"}`. Files that
marked_sources.py writes also have `site` and `kind`.
"""

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

SHINGLE_WORDS = 4
_WORD = re.compile(r"\w+")


class MarkedPage(NamedTuple):
    """A page in UTF-8 and its main text; `kind` is empty where a set does not name it."""

    id: str
    html: bytes
    text: str
    site: str
    kind: str = ""


def read_marked_pages(path: Path) -> list[MarkedPage]:
    """The pages of a file."""
    data = path.read_bytes()
    lines = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    rows = (json.loads(line) for line in lines.splitlines() if line.strip())
    return [
        MarkedPage(
            str(row["id"]),
            row["html"].encode("utf-8", "replace"),
            row["text"],
            row.get("site") or str(row["id"]).rstrip("0123456789").rstrip("-"),
            row.get("kind", ""),
        )
        for row in rows
    ]


def words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits."""
    return _WORD.findall(text.lower())


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """The multiset of runs of four words; a shorter text is one run."""
    found = words(text)
    starts = range(max(1, len(found) - SHINGLE_WORDS + 1)) if found else ()
    return Counter(tuple(found[i : i + SHINGLE_WORDS]) for i in starts)


def precision_recall(extracted: str, marked: str) -> tuple[float, float]:
    """Shares of the extracted and of the marked shingles that the other has too."""
    ours, theirs = shingles(extracted), shingles(marked)
    both = sum((ours & theirs).values())
    return both / max(1, sum(ours.values())), both / max(1, sum(theirs.values()))


def f1_of_means(scores: np.ndarray) -> float:
    """F1 of the mean precision and the mean recall; `scores` is pages x 2."""
    precision, recall = scores.mean(axis=0)
    return float(2 * precision * recall / max(precision + recall, 1e-9))


def bootstrap_interval(scores: np.ndarray, draws: int = 2000) -> tuple[float, float]:
    """The middle 95 % of F1 over resampled pages."""
    random = np.random.default_rng(0)
    sample = scores[random.integers(0, len(scores), (draws, len(scores)))].mean(axis=1)
    f1 = 2 * sample.prod(axis=1) / np.maximum(sample.sum(axis=1), 1e-9)
    low, high = np.quantile(f1, [0.025, 0.975])
    return float(low), float(high)
