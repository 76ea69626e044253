"""Which of the ranked paragraphs are kept, and summaries made of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice, pairwise

from wikisum.ranker.sentences import sentences


def best_within(
    order: Sequence[int], lengths: Sequence[int], max_paragraphs: int, max_tokens: int | None = None
) -> list[int]:
    """Return the first of `order` that fit: at most so many paragraphs and so many tokens in all.

    `lengths` counts each paragraph's tokens. The cut is at the first that does not fit, but one
    paragraph is always kept.
    """
    kept: list[int] = []
    total = 0
    for index in order[:max_paragraphs]:
        total += lengths[index]
        if kept and max_tokens is not None and total > max_tokens:
            break
        kept.append(index)
    return kept


def without_near_duplicates(
    order: Sequence[int], words: Sequence[Sequence[str]], threshold: float, size: int
) -> tuple[list[int], list[int]]:
    """Return the first `size` of `order` that repeat no other one, and those that were left out.

    A paragraph, given as terms, is left out if a better one has more than the share `threshold` of
    its pairs of neighboring words. The rest of `order` is not looked at.
    """
    kept: list[int] = []
    left_out: list[int] = []
    holders: dict[tuple[str, str], list[int]] = {}
    for index in order:
        if len(kept) == size:
            break
        pairs = set(pairwise(words[index]))
        shared = Counter(other for pair in pairs for other in holders.get(pair, ()))
        if pairs and max(shared.values(), default=0) > threshold * len(pairs):
            left_out.append(index)
            continue
        for pair in pairs:
            holders.setdefault(pair, []).append(len(kept))
        kept.append(index)
    return kept, left_out


def lead_summary(
    title: str, order: Iterable[int], paragraphs: Sequence[str], target_words: int
) -> str:
    """Return the first `target_words` words of the title and the ranked paragraphs.

    Lead of Liu & Lapata 2019 (section 4), where the target is the length of the gold summary.
    """
    return _first_words(chain([title], (paragraphs[i] for i in order)), target_words)


def extractive_summary(order: Iterable[int], paragraphs: Sequence[str], target_words: int) -> str:
    """Return the ranked paragraphs up to `target_words` words, the last one cut.

    Cut, so that every method's summary is as long as the gold one.
    """
    return _first_words((paragraphs[i] for i in order), target_words)


def lead_sentences(paragraphs: Iterable[str], count: int = 3) -> str:
    """Return the first `count` sentences: Lead-k, Lead-3 by default, as for a single document."""
    return " ".join(islice((s for p in paragraphs for s in sentences(p)), count))


def _first_words(texts: Iterable[str], count: int) -> str:
    return " ".join(islice((word for text in texts for word in text.split()), max(count, 0)))
