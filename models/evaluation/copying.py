"""Measures of how much of a text is copied from its sources, and how much is new.

All are computed from one value per word: the length of the longest run of words that starts there
and occurs in one source.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wikisum.crawl.tokens import terms

LEAST_RUN_WORDS = 4
_UNSPACED = re.compile(r"\S+")
_OTHER_WORD = -1
_END = ""  # no word is empty


class Match(NamedTuple):
    """The longest run of words that starts at a word and occurs in a source (the first one).

    `length` is 0 and `source` is meaningless if the word itself occurs in no source.
    """

    length: int
    source: int


class Run(NamedTuple):
    """The words `start` to `end - 1` of a text, which occur as a run in one source."""

    start: int
    end: int
    source: int


def longest_matches(words: Sequence[str], sources: Sequence[Sequence[str]]) -> list[Match]:
    """Return the match at each word of a text; `sources` are texts as words too.

    Time grows with the product of both lengths, in numpy: about 2 ms for 150 words and 2,500.
    """
    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    ends = np.cumsum([len(source) + 1 for source in sources], dtype=np.int64)
    parted = (word for source in sources for word in (*source, _END))
    stream = np.array([ids.get(word, _OTHER_WORD) for word in parted] or [_OTHER_WORD], np.int32)
    found: list[Match] = []
    # at each position of the sources, how many words from there on are those of the text
    lengths: npt.NDArray[np.int32] = np.zeros(len(stream) + 1, dtype=np.int32)
    for word in reversed(words):
        lengths[:-1] = np.where(stream == ids[word], lengths[1:] + 1, 0)
        start = int(lengths.argmax())
        found.append(Match(int(lengths[start]), int(np.searchsorted(ends, start, side="right"))))
    return found[::-1]


def match_texts(text: str, sources: Sequence[str]) -> tuple[list[str], list[Match]]:
    """Return the words of a text, and the match at each in the sources, texts too."""
    words = terms(text)
    return words, longest_matches(words, [terms(source) for source in sources])


def copied_runs(matches: Sequence[Match], least: int = LEAST_RUN_WORDS) -> list[Run]:
    """Return the runs of at least `least` words that stand in a source and in no longer such run.

    In the order of the text; neighbors may overlap, where one source goes on as another ends.
    """
    found: list[Run] = []
    for start, (length, source) in enumerate(matches):
        if length >= least and (not found or start + length > found[-1].end):
            found.append(Run(start, start + length, source))
    return found


def copied_share(matches: Sequence[Match], least: int = LEAST_RUN_WORDS) -> float:
    """Return the share of the words that stand inside a copied run of at least `least` words."""
    covered, reached = 0, 0
    for run in copied_runs(matches, least):
        covered += run.end - max(run.start, reached)
        reached = run.end
    return covered / max(len(matches), 1)


def fragments(matches: Sequence[Match]) -> list[int]:
    """Return the lengths of the extractive fragments, taken greedily from the left.

    F(A, S) of Grusky et al. 2018 ("Newsroom", figure 3), with each source a text of its own.
    """
    found, position = [], 0
    while position < len(matches):
        length = matches[position].length
        if length:
            found.append(length)
        position += max(length, 1)
    return found


def fragment_coverage(matches: Sequence[Match]) -> float:
    """Return the share of the words in extractive fragments (Grusky et al. 2018, eq. 1)."""
    return sum(fragments(matches)) / max(len(matches), 1)


def fragment_density(matches: Sequence[Match]) -> float:
    """Return the mean length of the fragment that a word is in (Grusky et al. 2018, eq. 2)."""
    return sum(length**2 for length in fragments(matches)) / max(len(matches), 1)


def novel_share(words: Sequence[str], matches: Sequence[Match], size: int) -> float | None:
    """Return the share of the distinct n-grams of `size` words that stand in no source.

    As See et al. 2017 and Narayan et al. 2018 count novel n-grams. None for a text with no n-gram.
    """
    is_new = {gram: matches[i].length < size for i, gram in enumerate(_ngrams(words, size))}
    return sum(is_new.values()) / len(is_new) if is_new else None


def repeated_share(words: Sequence[str], size: int = 3) -> float | None:
    """Return the share of n-grams that occur earlier in the text; None if there is no n-gram."""
    grams = _ngrams(words, size)
    return 1 - len(set(grams)) / len(grams) if grams else None


def _ngrams(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[i:] for i in range(size)), strict=False))


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """Each word of a text, as `match_texts` has it, and from where to where its unspaced run goes.

    Words are normalized and so may be longer or shorter than what stands there.
    """
    return [
        (term, *match.span()) for match in _UNSPACED.finditer(text) for term in terms(match.group())
    ]
