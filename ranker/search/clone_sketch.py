"""Is this page a copy of the article? Estimated from samples, for millions of pairs at once.

The calibrated rule of `crawl.clones` on every eighth pair of neighboring words: the pairs whose
hash is small, the same ones in every text (FracMinHash; Irber et al. 2022), so that the share of a
section's pairs that a page holds can be estimated without either text. On real copies and honest
pages: recall 0.99, precision 0.99, where the section share itself has 0.998 (benchmarks/search.md).
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wikisum.ranker.search.phrases import BREAK, Hashes

Sketch = NDArray[np.uint32]

SAMPLED_ONE_IN = 8
MIN_SECTION_PAIRS = 4  # sampled ones; smaller sections are taken together
_MULTIPLIER = np.uint64(0xC2B2AE3D27D4EB4F)
_LIMIT = np.uint64((1 << 64) // SAMPLED_ONE_IN)
_TABLE_SIZE = 1 << 16


def sketch(words: Hashes) -> Sketch:
    """The sampled pairs of neighboring words of a text (BREAK parts lines), sorted, each once."""
    pairs = words[:-1] * _MULTIPLIER + words[1:]
    pairs ^= pairs >> np.uint64(32)
    pairs *= _MULTIPLIER
    pairs = pairs[(pairs < _LIMIT) & (words[:-1] != BREAK) & (words[1:] != BREAK)]
    return np.unique((pairs >> np.uint64(24)).astype(np.uint32))


def section_sketches(sections: Iterable[Hashes]) -> list[Sketch]:
    """The sketches of an article's sections, small ones as one; none if even that is too small."""
    long: list[Sketch] = []
    rest = [np.empty(0, np.uint32)]
    for words in sections:
        found = sketch(words)
        (long if len(found) >= MIN_SECTION_PAIRS else rest).append(found)
    together = np.unique(np.concatenate(rest))
    return [*long, together] if len(together) >= MIN_SECTION_PAIRS else long


def clone_scores(page: Sketch, pairs: Sketch, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of each section's sampled pairs that the page holds, in 0..1.

    The sections stand one after the other in `pairs`; each begins at its start and none is empty.
    """
    table = np.zeros(_TABLE_SIZE, np.bool_)
    table[page & np.uint32(_TABLE_SIZE - 1)] = True  # a false hit in one of 65,536 / len(page)
    hits = table[pairs & np.uint32(_TABLE_SIZE - 1)]
    sizes = np.diff(np.append(starts, len(pairs)))
    return np.add.reduceat(hits.astype(np.float64), starts) / sizes
