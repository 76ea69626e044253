"""Which of millions of phrases stand in a page: exact, word by word, in flat arrays.

A phrase is the hash of its words' hashes; a page is read once, from each word on as long as some
phrase goes on so. Hashes have 64 bits and are not checked: a million phrases and a billion pages
of a thousand words make less than one false match. Measured against automata in
benchmarks/search.md.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from wikisum.crawl.tokens import terms

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]
Bits = NDArray[np.uint8]

BREAK = np.uint64(0)  # between texts that no phrase may run across
_MULTIPLIER = 0x9E3779B97F4A7C15  # odd, so that no bit of an earlier word is lost
_MODULUS = 1 << 64
_BITS_PER_PREFIX = 32
_MIN_LOG_BITS = 16
_CACHED_WORDS = 1 << 18
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class WordHashes(dict[str, int]):
    """word -> its 64-bit hash, remembering those met last."""

    def __missing__(self, word: str) -> int:
        if len(self) == _CACHED_WORDS:
            self.clear()
        value = self[word] = xxh3_64_intdigest(word.encode())
        return value

    def of(self, words: Sequence[str]) -> Hashes:
        """Return the hashes of the words in order."""
        return np.fromiter(map(self.__getitem__, words), np.uint64, len(words))


def search_terms(text: str) -> list[str]:
    """Return the terms of a text as searches see them: without accents, which people leave out.

    Where a script sets no spaces, each character is a term.
    """
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        if _UNSPACED.search(text):
            text = _UNSPACED.sub(r" \g<0> ", text)
    return terms(text)


def title_phrase(title: str) -> list[str]:
    """The terms that a page must hold in a row: the title's without `(qualifier)` at its end.

    Nobody writes `Mercury (planet)`. A title that is nothing else keeps it.
    """
    return search_terms(_QUALIFIER.sub("", title)) or search_terms(title)


def prefix_hashes(word_hashes: Iterable[int]) -> list[int]:
    """The hash of the first word, of the first two, and so on; the last is the phrase's own."""
    value = 0
    found = []
    for word in word_hashes:
        value = (value * _MULTIPLIER + word) % _MODULUS
        found.append(value)
    return found


class PhraseIndex(NamedTuple):
    """Phrases to look for: their hashes, sorted, and a bit for the hash of every beginning."""

    hashes: Hashes
    prefix_bits: Bits

    @property
    def size_bytes(self) -> int:
        return self.hashes.nbytes + self.prefix_bits.nbytes

    def find(self, page: Hashes) -> tuple[Places, Places]:
        """(place of its first word, number of the phrase) of each time that one stands there.

        `page` has the hashes of a page's words, with BREAK between its texts. Phrases within
        others are found too. Ordered by length, then place.
        """
        starts: list[Places] = []
        numbers: list[Places] = []
        at = np.flatnonzero(page != BREAK)
        value = page[at]
        length = 1
        while len(at):
            alive = self._is_prefix(value)
            at, value = at[alive], value[alive]
            distinct, which = np.unique(value, return_inverse=True)  # sorted look-ups are quick
            number = np.minimum(np.searchsorted(self.hashes, distinct), len(self.hashes) - 1)
            is_phrase = self.hashes[number] == distinct
            found = is_phrase[which]
            starts.append(at[found])
            numbers.append(number[which[found]])
            inside = at + length < len(page)
            at, value = at[inside], value[inside]
            word = page[at + length]
            at, value, word = (array[word != BREAK] for array in (at, value, word))
            value = value * np.uint64(_MULTIPLIER) + word
            length += 1
        if not starts:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(starts), np.concatenate(numbers)

    def _is_prefix(self, value: Hashes) -> NDArray[np.bool_]:
        bit = value >> np.uint64(64 - _log_bits(self.prefix_bits))
        byte = self.prefix_bits[(bit >> np.uint64(3)).astype(np.int64)]
        mask = np.uint8(1) << (bit & np.uint64(7)).astype(np.uint8)
        return np.asarray(byte & mask != 0)


def build_index(phrase_hashes: Hashes, prefixes: Hashes) -> PhraseIndex:
    """The index of the phrases with these hashes, of which `prefixes` has all beginnings too.

    Both may be in any order and name a hash more than once. Raises ValueError without any.
    """
    if not len(phrase_hashes):
        raise ValueError("there is no phrase to search for")
    log_bits = max(_MIN_LOG_BITS, int(len(prefixes) * _BITS_PER_PREFIX - 1).bit_length())
    bits = np.zeros(1 << (log_bits - 3), np.uint8)
    bit = prefixes >> np.uint64(64 - log_bits)
    masks = np.uint8(1) << (bit & np.uint64(7)).astype(np.uint8)
    np.bitwise_or.at(bits, (bit >> np.uint64(3)).astype(np.int64), masks)
    return PhraseIndex(np.unique(phrase_hashes), bits)


def _log_bits(bits: Bits) -> int:
    return len(bits).bit_length() + 2
