"""Detect pages and paragraphs that are copies of the article.

The document rule of Liu et al. 2018 (A.2.1), r(d, a) = max over sections s of
|uni(d) & uni(s)| / |uni(s)|, drops long honest pages: any long text holds half of the distinct
words of a short section. The calibrated rule keeps its form and its threshold and counts pairs of
neighboring words in place of words, in sections that have enough of them.

A page that shares one paragraph with the article and is otherwise its own text is no copy, so the
score of such a page is lowered (`_quotation_weight`). A page of which most words are runs of the
article is a copy, also if it holds no section (`_copied_share`). benchmarks/clones.md has figures.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wikisum.crawl.tokens import terms

SHINGLE_WORDS = {"calibrated": 2, "literal": 1}
MIN_SECTION_SHINGLES = {"calibrated": 30, "literal": 1}

# A run is at least so many shingles of the article one after the other: 9 words.
RUN_SHINGLES = 8
_RUN = re.compile(rb"\x01{%d,}" % RUN_SHINGLES)
HELD_PARAGRAPH_SHARE = 0.6  # of the shingles of an article's paragraph that a copy of it holds
MIN_WEIGHED_SCORE = 0.25  # lower scores stay as they are
# A page with one paragraph of the article counts fully if that is so much of the page or article.
FULL_PAGE_SHARE = 0.3
FULL_ARTICLE_SHARE = 0.5
# A page with so much of the article in runs, and as much as a section has, is scored by its own
# words: the share that the runs are of them.
MIN_ARTICLE_SHARE = 0.05

Shingle = tuple[str, ...]


class ArticleShingles(NamedTuple):
    """An article prepared for comparison: its shingles, those of each section, and its texts."""

    rule: str
    every: set[Shingle]
    sections: list[set[Shingle]]
    texts: list[str]

    @property
    def sizes(self) -> list[int]:
        """The number of shingles of each section."""
        return [len(section) for section in self.sections]


class CopiedRuns(NamedTuple):
    """The runs of an article in a document: their shingles and words, and its number of words."""

    shingles: set[Shingle]
    words: int
    page_words: int


def shingles(words: Sequence[str], length: int) -> Iterable[Shingle]:
    """Return all runs of `length` words."""
    return zip(*(words[i:] for i in range(length)), strict=False)


def article_shingles(
    lead: str,
    sections: Sequence[str],
    rule: str = "calibrated",
    min_section_shingles: int | None = None,
) -> ArticleShingles:
    """Return the lead and each section as sets of shingles.

    Sections with fewer shingles than the minimum (by default the rule's) are merged into one,
    which counts if it reaches the minimum, or if the article has no other. Raises ValueError for
    an unknown rule.
    """
    if rule not in SHINGLE_WORDS:
        raise ValueError(f"unknown clone rule {rule!r}; choose from {', '.join(SHINGLE_WORDS)}")
    length = SHINGLE_WORDS[rule]
    minimum = MIN_SECTION_SHINGLES[rule] if min_section_shingles is None else min_section_shingles
    texts = [lead, *sections]
    long: list[set[Shingle]] = []
    rest: set[Shingle] = set()
    for text in texts:
        found = set(shingles(terms(text), length))
        if len(found) >= minimum:
            long.append(found)
        else:
            rest |= found
    if rest and (len(rest) >= minimum or not long):
        long.append(rest)
    return ArticleShingles(rule, set().union(*long), long, texts)


def clone_score(paragraphs: Sequence[Sequence[str]], article: ArticleShingles) -> float:
    """Return how far a document is a copy of the article, in 0..1.

    The document is given as the terms of each of its paragraphs. The score is the greatest share of
    a section's shingles that the document holds. By the calibrated rule, a score from 0.25 on is
    lower if the document shares one paragraph only, and a document that holds a twentieth of the
    article scores at least the share of its own words that are copied in runs.
    """
    length = SHINGLE_WORDS[article.rule]
    is_held = article.every.__contains__
    held: set[Shingle] = set()
    for paragraph in paragraphs:
        held.update(filter(is_held, shingles(paragraph, length)))
    score = max((len(held & section) / len(section) for section in article.sections), default=0.0)
    is_little = score < MIN_WEIGHED_SCORE and len(held) < MIN_ARTICLE_SHARE * len(article.every)
    if article.rule == "literal" or is_little:
        return score
    runs = copied_runs(paragraphs, article)
    if score >= MIN_WEIGHED_SCORE:
        score *= _quotation_weight(held, runs, article)
    return max(score, _copied_share(runs, article))


def copied_runs(paragraphs: Iterable[Sequence[str]], article: ArticleShingles) -> CopiedRuns:
    """Return the runs of an article in a document, given as the terms of each paragraph."""
    length = SHINGLE_WORDS[article.rule]
    found: set[Shingle] = set()
    words = page_words = 0
    for paragraph in paragraphs:
        page_words += len(paragraph)
        every = list(shingles(paragraph, length))
        for run in _RUN.finditer(bytes(map(article.every.__contains__, every))):
            words += run.end() - run.start() + length - 1
            found.update(every[run.start() : run.end()])
    return CopiedRuns(found, words, page_words)


def _quotation_weight(held: set[Shingle], runs: CopiedRuns, article: ArticleShingles) -> float:
    """The weight of the score, 0..1: under 1 if at most one paragraph of the article is held.

    The weight grows with the part of the page, and of the article, that is copied in runs.
    """
    length = SHINGLE_WORDS[article.rule]
    paragraphs = [p for text in article.texts for p in _paragraph_shingles(text, length)]
    copied = sum(len(p & held) > HELD_PARAGRAPH_SHARE * len(p) for p in paragraphs)
    if copied > 1 or not paragraphs:
        return 1.0
    of_page = runs.words / runs.page_words / FULL_PAGE_SHARE
    of_article = len(runs.shingles) / len(article.every) / FULL_ARTICLE_SHARE
    return min(1.0, max(of_page, of_article))


def _paragraph_shingles(text: str, length: int) -> list[set[Shingle]]:
    """The shingles of each paragraph; lines too short for a run, such as a list's, count as one."""
    long: list[set[Shingle]] = []
    rest: set[Shingle] = set()
    for line in text.split("\n"):
        found = set(shingles(terms(line), length))
        if len(found) >= RUN_SHINGLES:
            long.append(found)
        else:
            rest |= found
    return [*long, rest] if len(rest) >= RUN_SHINGLES else long


def _copied_share(runs: CopiedRuns, article: ArticleShingles) -> float:
    """The share of the page's words that are in runs; 0 if the runs are little of the article."""
    least = MIN_ARTICLE_SHARE * len(article.every)
    if len(runs.shingles) < max(least, MIN_SECTION_SHINGLES[article.rule]):
        return 0.0
    return runs.words / runs.page_words


def lead_bigrams(lead: str) -> frozenset[Shingle]:
    """Return the distinct bigrams of a lead."""
    return frozenset(shingles(terms(lead), 2))


def paragraph_clone_score(words: Sequence[str], bigrams: frozenset[Shingle]) -> float:
    """Return the share of the lead's bigrams that a paragraph, given as terms, holds.

    Liu & Lapata 2019 (section 4) drop paragraphs over 0.8. Return 0 for a lead without bigrams.
    """
    return len(bigrams.intersection(shingles(words, 2))) / len(bigrams) if bigrams else 0.0
