"""The queries that a page answers, with its BM25 score for each: one page against all queries."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikisum.crawl.extract.page_fields import PageFields
from wikisum.ranker.search.bm25 import FIELDS, Collection, Counts, Floats, idf, term_weights
from wikisum.ranker.search.clone_sketch import clone_scores, sketch
from wikisum.ranker.search.phrases import BREAK, Hashes, WordHashes, search_terms
from wikisum.ranker.search.query_index import QueryIndex, ranges

MAX_PHRASE_SHARE = 0.01
MIN_PHRASE_HOLDERS = 50
_TEXT = FIELDS.index("text")


class PageTerms(NamedTuple):
    """The word hashes of a page's fields, BREAK after each line; field f ends at `ends[f]`."""

    hashes: Hashes
    ends: tuple[int, int, int]


class Statistics(NamedTuple):
    """Of a collection of pages: how many hold each term of the vocabulary, and each phrase."""

    collection: Collection
    term_holders: Counts
    phrase_holders: Counts


class Answers(NamedTuple):
    """The queries (places in the index) that a page answers, its scores, and how many it copies."""

    queries: Counts
    scores: Floats
    clone_count: int


def page_terms(page: PageFields, words: WordHashes) -> PageTerms:
    """Return the page as word hashes."""
    hashes: list[int] = []
    ends = []
    for lines in ([page.title], page.headings, page.text):
        for line in lines:
            hashes.extend(map(words.__getitem__, search_terms(line)))
            hashes.append(int(BREAK))
        ends.append(len(hashes))
    return PageTerms(np.array(hashes, np.uint64), (ends[0], ends[1], ends[2]))


def field_counts(page: PageTerms) -> tuple[Hashes, Counts, Counts]:
    """(distinct terms, how often each stands in each field [F, T], the fields' lengths [F])."""
    terms, inverse = np.unique(page.hashes, return_inverse=True)
    counts, begin = [], 0
    for end in page.ends:
        counts.append(np.bincount(inverse[begin:end], minlength=len(terms)))
        begin = end
    is_term = terms != BREAK
    counts_FT = np.array(counts, np.int64)[:, is_term]
    return terms[is_term], counts_FT, counts_FT.sum(axis=1)


class StatisticsCounter:
    """Counts what BM25 must know of the whole collection, page by page."""

    def __init__(self, index: QueryIndex) -> None:
        self._index = index
        self._page_count = 0
        self._field_lengths = np.zeros(len(FIELDS), np.int64)
        self._term_holders = np.zeros(len(index.vocabulary), np.int64)
        self._phrase_holders = np.zeros(len(index.phrases), np.int64)

    def add(self, page: PageTerms) -> None:
        terms, _, lengths = field_counts(page)
        self._page_count += 1
        self._field_lengths += lengths
        _, numbers = _known(self._index.vocabulary, terms)
        self._term_holders[numbers] += 1
        _, phrases = self._index.phrase_index.find(page.hashes)
        self._phrase_holders[np.unique(phrases)] += 1

    def statistics(self) -> Statistics:
        collection = Collection(self._page_count, self._field_lengths)
        return Statistics(collection, self._term_holders, self._phrase_holders)


def add_up(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of parts of a collection as those of the whole. Raises ValueError for none."""
    first, *rest = parts
    for part in rest:
        first = Statistics(
            Collection(
                first.collection.page_count + part.collection.page_count,
                first.collection.field_lengths + part.collection.field_lengths,
            ),
            first.term_holders + part.term_holders,
            first.phrase_holders + part.phrase_holders,
        )
    return first


class Searcher:
    """Finds the queries that a page answers: its phrase stands there, and it is no clone.

    A phrase that over 1 % of the pages hold (and at least 50) says little by standing in a text
    and counts only in the page's title or a heading.
    """

    def __init__(self, index: QueryIndex, statistics: Statistics, max_clone_score: float) -> None:
        self._index = index
        self._collection = statistics.collection
        self._idf = idf(statistics.term_holders, statistics.collection.page_count)
        max_holders = max(MIN_PHRASE_HOLDERS, MAX_PHRASE_SHARE * statistics.collection.page_count)
        self._is_common = statistics.phrase_holders > max_holders
        self._weights = np.zeros(len(index.vocabulary))  # of the page at hand; zero between pages
        self._max_clone_score = max_clone_score

    def answers(self, page: PageTerms) -> Answers:
        """Return the queries that the page answers, in the order of the index."""
        index = self._index
        at, phrases = index.phrase_index.find(page.hashes)
        in_head = at < page.ends[_TEXT - 1]
        phrases = np.unique(phrases[in_head | ~self._is_common[phrases]])
        queries = ranges(index.query_starts[phrases], index.query_starts[phrases + 1])
        is_clone = self._clone_scores(page, queries) > self._max_clone_score
        queries = queries[~is_clone]
        return Answers(queries, self._scores(page, queries), int(is_clone.sum()))

    def _scores(self, page: PageTerms, queries: Counts) -> Floats:
        index = self._index
        if not len(queries):
            return np.empty(0)
        terms, counts_FT, lengths_F = field_counts(page)
        known, numbers = _known(index.vocabulary, terms)
        self._weights[numbers] = term_weights(
            counts_FT[:, known], lengths_F, self._idf[numbers], self._collection
        )
        starts, ends = index.term_starts[queries], index.term_starts[queries + 1]
        of_terms = self._weights[index.term_numbers[ranges(starts, ends)]]
        self._weights[numbers] = 0.0
        return np.asarray(np.add.reduceat(of_terms, _places(ends - starts)).round(6))

    def _clone_scores(self, page: PageTerms, queries: Counts) -> Floats:
        """Return the greatest share of a section of the query's article that the page holds."""
        index = self._index
        scores = np.zeros(len(queries))
        articles = index.articles[queries]
        first, last = index.section_starts[articles], index.section_starts[articles + 1]
        has_sections = np.flatnonzero(first < last)
        if not len(has_sections):
            return scores
        first, last = first[has_sections], last[has_sections]
        sections = ranges(first, last)
        starts, ends = index.pair_starts[sections], index.pair_starts[sections + 1]
        pairs = index.pairs[ranges(starts, ends)]
        of_sections = clone_scores(sketch(page.hashes), pairs, _places(ends - starts))
        scores[has_sections] = np.maximum.reduceat(of_sections, _places(last - first))
        return scores


def _places(sizes: Counts) -> Counts:
    """Where runs of these sizes begin, one after the other."""
    return np.asarray(np.cumsum(sizes) - sizes)


def _known(vocabulary: Hashes, terms: Hashes) -> tuple[NDArray[np.bool_], Counts]:
    """(which of the sorted terms are in the vocabulary, the numbers of those that are)."""
    index = np.minimum(np.searchsorted(vocabulary, terms), len(vocabulary) - 1)
    known = vocabulary[index] == terms
    return known, index[known]
