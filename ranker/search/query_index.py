"""Millions of queries in flat arrays, ready to be matched against pages: see `ranker.search`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikisum.ranker.search.clone_sketch import Sketch, section_sketches
from wikisum.ranker.search.phrases import (
    Hashes,
    PhraseIndex,
    WordHashes,
    build_index,
    prefix_hashes,
    search_terms,
    title_phrase,
)

Numbers = NDArray[np.int64]
Places = NDArray[np.int32]


class QueryPart(NamedTuple):
    """Some of the queries, in the order they came, before they are sorted into an index.

    Query q is called `numbers[q]`; it has the phrase hash `phrases[q]`, `term_counts[q]` of
    `terms`, and is of article `articles[q]`, which has `section_counts[a]` sections with
    `pair_counts[s]` of `pairs` each. `prefixes` are the hashes of all beginnings of phrases.
    """

    numbers: Numbers
    phrases: Hashes
    prefixes: Hashes
    term_counts: Places
    terms: Hashes
    articles: Places
    section_counts: Places
    pair_counts: Places
    pairs: Sketch


class QueryIndex(NamedTuple):
    """All queries, sorted by the hash of their phrase.

    Phrase p is that of queries `query_starts[p] : query_starts[p + 1]`. The terms of query q are
    `vocabulary[term_numbers[term_starts[q] : term_starts[q + 1]]]`, each once. `numbers[q]` is
    what its owner calls it, `articles[q]` the article it comes of. The sections of article a are
    `section_starts[a] : section_starts[a + 1]`, and the sketch of section s is
    `pairs[pair_starts[s] : pair_starts[s + 1]]`.
    """

    phrases: Hashes
    prefix_bits: NDArray[np.uint8]
    query_starts: Numbers
    numbers: Numbers
    articles: Places
    term_starts: Numbers
    term_numbers: Places
    vocabulary: Hashes
    section_starts: Numbers
    pair_starts: Numbers
    pairs: Sketch

    @property
    def phrase_index(self) -> PhraseIndex:
        return PhraseIndex(self.phrases, self.prefix_bits)

    @property
    def size_bytes(self) -> int:
        return sum(array.nbytes for array in self)


class PartBuilder:
    """Gathers queries; `words` may be shared with other builders."""

    def __init__(self, words: WordHashes) -> None:
        self._words = words
        self._numbers: list[int] = []
        self._phrases: list[int] = []
        self._prefixes: list[int] = []
        self._term_counts: list[int] = []
        self._terms: list[int] = []
        self._articles: list[int] = []
        self._section_counts: list[int] = []
        self._sketches: list[Sketch] = []

    def add(self, title: str, queries: Sequence[tuple[int, str]], texts: Sequence[str]) -> bool:
        """Add the (number, text) queries of one title; `texts` are its article's sections.

        False for a title without a letter or digit, which cannot be found and is left out.
        """
        phrase = title_phrase(title)
        if not phrase:
            return False
        prefixes = prefix_hashes(map(self._words.__getitem__, phrase))
        self._prefixes += prefixes
        for number, query in queries:
            terms = sorted({self._words[term] for term in [*phrase, *search_terms(query)]})
            self._numbers.append(number)
            self._phrases.append(prefixes[-1])
            self._term_counts.append(len(terms))
            self._terms += terms
            self._articles.append(len(self._section_counts))
        sketches = section_sketches(self._words.of(search_terms(text)) for text in texts)
        self._section_counts.append(len(sketches))
        self._sketches += sketches
        return True

    def part(self) -> QueryPart:
        return QueryPart(
            np.array(self._numbers, np.int64),
            np.array(self._phrases, np.uint64),
            np.array(self._prefixes, np.uint64),
            np.array(self._term_counts, np.int32),
            np.array(self._terms, np.uint64),
            np.array(self._articles, np.int32),
            np.array(self._section_counts, np.int32),
            np.array([len(s) for s in self._sketches], np.int32),
            np.concatenate([np.empty(0, np.uint32), *self._sketches]),
        )


def ranges(starts: Numbers, ends: Numbers) -> Numbers:
    """Return the whole numbers of each range [start, end), one range after the other."""
    sizes = ends - starts
    shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    return np.asarray(shift + np.arange(len(shift)))


def merge(parts: Sequence[QueryPart]) -> QueryIndex:
    """Return the index of the queries of all parts. Raises ValueError if there is none."""
    first_articles = np.cumsum([0, *(len(p.section_counts) for p in parts)])
    articles = [p.articles + a for p, a in zip(parts, first_articles, strict=False)]
    whole = QueryPart(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.lexsort((whole.numbers, whole.phrases))
    phrases = whole.phrases[order]
    index = build_index(phrases, whole.prefixes)
    starts, ends = _bounds(whole.term_counts)
    vocabulary, term_numbers = np.unique(whole.terms, return_inverse=True)
    return QueryIndex(
        index.hashes,
        index.prefix_bits,
        np.append(np.searchsorted(phrases, index.hashes), len(phrases)),
        whole.numbers[order],
        np.concatenate(articles)[order].astype(np.int32),
        _starts(whole.term_counts[order]),
        term_numbers.astype(np.int32)[ranges(starts[order], ends[order])],
        vocabulary,
        _starts(whole.section_counts),
        _starts(whole.pair_counts),
        whole.pairs,
    )


def _starts(counts: Places) -> Numbers:
    """Where each of the runs begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _bounds(counts: Places) -> tuple[Numbers, Numbers]:
    starts = _starts(counts)
    return starts[:-1], starts[1:]
