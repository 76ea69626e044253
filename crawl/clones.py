"""Detect pages and paragraphs that are copies of the article.

The document rule of Liu et al. 2018 (A.2.1), r(d, a) = max over sections s of
|uni(d) & uni(s)| / |uni(s)|, drops long honest pages: any long text holds half of the distinct
words of a short section. The calibrated rule keeps its form and its threshold and counts pairs of
neighboring words in place of words, in sections that have enough of them: precision and recall
are 0.998 each where the literal rule has 0.83 and 1.0 (benchmarks/clones.md). A page that quotes
one section counts less the smaller the part of the page is that the quotation makes up.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wikisum.crawl.tokens import terms

SHINGLE_WORDS = {"calibrated": 2, "literal": 1}
MIN_SECTION_SHINGLES = {"calibrated": 30, "literal": 1}

# A page of which this share is copied is a copy, whatever stands beside; less counts less.
FULL_COPY_SHARE = 0.06
COPIED_SECTION_SHARE = 0.5
MIN_COPIED_WORDS = 9  # of a paragraph that counts as copied
COPIED_PARAGRAPH_SHARE = 0.6  # of a copied paragraph's shingles are in the article

Shingle = tuple[str, ...]


class ArticleShingles(NamedTuple):
    """An article prepared for comparison: the sections that hold each shingle, and their sizes."""

    rule: str
    sections_by_shingle: dict[Shingle, list[int]]
    sizes: list[int]


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
    long, rest = [], set()
    for text in [lead, *sections]:
        found = set(shingles(terms(text), length))
        if len(found) >= minimum:
            long.append(found)
        else:
            rest |= found
    if rest and (len(rest) >= minimum or not long):
        long.append(rest)
    by_shingle: dict[Shingle, list[int]] = {}
    for number, found in enumerate(long):
        for shingle in found:
            by_shingle.setdefault(shingle, []).append(number)
    return ArticleShingles(rule, by_shingle, [len(found) for found in long])


def clone_score(paragraphs: Iterable[Sequence[str]], article: ArticleShingles) -> float:
    """Return the greatest share of a section's shingles that a document holds, in 0..1.

    The document is given as the terms of each of its paragraphs. By the calibrated rule, if it has
    only one paragraph of the article, the share is lowered in proportion where that paragraph makes
    up less than 6 % of the document.
    """
    length = SHINGLE_WORDS[article.rule]
    sections_by_shingle = article.sections_by_shingle
    found: set[Shingle] = set()
    words = copied_words = copied_paragraphs = 0
    for paragraph in paragraphs:
        held = list(filter(sections_by_shingle.__contains__, shingles(paragraph, length)))
        found.update(held)
        words += len(paragraph)
        is_copied = len(held) > COPIED_PARAGRAPH_SHARE * (len(paragraph) - length + 1)
        if is_copied and len(paragraph) >= MIN_COPIED_WORDS:
            copied_words += len(paragraph)
            copied_paragraphs += 1
    counts = [0] * len(article.sizes)
    for shingle in found:
        for section in sections_by_shingle[shingle]:
            counts[section] += 1
    shares = [c / size for c, size in zip(counts, article.sizes, strict=True)]
    score = max(shares, default=0.0)
    copied_sections = sum(share > COPIED_SECTION_SHARE for share in shares)
    if article.rule == "literal" or copied_sections > 1 or copied_paragraphs != 1:
        return score
    return score * min(1.0, copied_words / (FULL_COPY_SHARE * max(words, 1)))


def lead_bigrams(lead: str) -> frozenset[Shingle]:
    """Return the distinct bigrams of a lead."""
    return frozenset(shingles(terms(lead), 2))


def paragraph_clone_score(words: Sequence[str], bigrams: frozenset[Shingle]) -> float:
    """Return the share of the lead's bigrams that a paragraph, given as terms, holds.

    Liu & Lapata 2019 (section 4) drop paragraphs over 0.8. Return 0 for a lead without bigrams.
    """
    return len(bigrams.intersection(shingles(words, 2))) / len(bigrams) if bigrams else 0.0
