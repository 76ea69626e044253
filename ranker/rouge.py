"""ROUGE (Lin 2004), equal to the `rouge-score` package to the last digit, and much faster.

`rougeL` takes each text as one sequence; `rougeLsum` parts it at line breaks and takes the union
of the sentences' longest common subsequences. The two differ by many points on the same text:
always say which one is meant.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

_TOKEN = re.compile(r"[a-z0-9]+")
_MIN_STEMMED_CHARS = 4


def rouge_tokens(text: str, stem: bool = False) -> list[str]:
    """The words that ROUGE counts: lower case, ASCII letters and digits, Porter stems if asked."""
    tokens = _TOKEN.findall(text.lower())
    return [_stem(t) if len(t) >= _MIN_STEMMED_CHARS else t for t in tokens] if stem else tokens


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=1 << 16)
def _stem(token: str) -> str:
    return str(_stemmer().stem(token))


def rouge(candidate: str, reference: str, stem: bool = False) -> dict[str, dict[str, float]]:
    """`rouge1`, `rouge2`, `rougeL` and `rougeLsum`, each with `precision`, `recall`, `f1`."""
    words, gold = rouge_tokens(candidate, stem), rouge_tokens(reference, stem)
    return {
        "rouge1": _overlap(_ngrams(words, 1), _ngrams(gold, 1)),
        "rouge2": _overlap(_ngrams(words, 2), _ngrams(gold, 2)),
        "rougeL": _score(lcs_length(words, gold), len(words), len(gold)),
        "rougeLsum": _rouge_lsum(candidate, reference, stem),
    }


def _ngrams(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(length)), strict=False))


def _overlap(words: Counter[tuple[str, ...]], gold: Counter[tuple[str, ...]]) -> dict[str, float]:
    hits = sum(min(count, words[gram]) for gram, count in gold.items() if gram in words)
    return _score(hits, words.total(), gold.total())


def _score(hits: int, candidate_size: int, reference_size: int) -> dict[str, float]:
    precision = hits / max(candidate_size, 1)
    recall = hits / max(reference_size, 1)
    both = precision + recall
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / both if both > 0 else 0.0,
    }


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    if len(first) > len(second):
        first, second = second, first
    masks = _masks(first)
    row = full = (1 << len(first)) - 1
    for hit in filter(None, map(masks.get, second)):
        row = _next_row(row, hit, full)
    return len(first) - row.bit_count()


def lcs_lengths(gold: Sequence[str], parts: Iterable[Sequence[str]]) -> list[int]:
    """After each part: the length of the longest common subsequence of all so far with `gold`."""
    masks = _masks(gold)
    row = full = (1 << len(gold)) - 1
    lengths = []
    for part in parts:
        for hit in filter(None, map(masks.get, part)):
            row = _next_row(row, hit, full)
        lengths.append(len(gold) - row.bit_count())
    return lengths


def _masks(words: Sequence[str]) -> dict[str, int]:
    """For each word the positions where it stands, as bits."""
    masks: dict[str, int] = {}
    for position, word in enumerate(words):
        masks[word] = masks.get(word, 0) | 1 << position
    return masks


def _next_row(row: int, hit: int, full: int) -> int:
    """Return the next row of the dynamic program, bit-parallel (Hyyrö 2004).

    Bit i is 0 where the common subsequence with the first i + 1 words is longer than that with
    the first i.
    """
    step = row & hit
    return (row + step | row - step) & full


def _lcs_indexes(gold: Sequence[str], words: Sequence[str]) -> list[int]:
    """Where in `gold` one longest common subsequence with `words` stands.

    Of several, the one that the usual trace back from the ends gives (a step in `words` before
    one in `gold` only where that is better).
    """
    masks = _masks(gold)
    row = full = (1 << len(gold)) - 1
    rows = [row := _next_row(row, masks.get(word, 0), full) for word in words]
    indexes: list[int] = []
    i, j = len(gold) - 1, len(words) - 1
    while i >= 0 and j >= 0:
        if gold[i] == words[j]:
            indexes.append(i)
            i, j = i - 1, j - 1
        elif rows[j] >> i & 1:
            i -= 1
        else:
            j -= 1
    return indexes


def _rouge_lsum(candidate: str, reference: str, stem: bool) -> dict[str, float]:
    """Union of the sentences' common subsequences, each word counted as often as it may be."""
    words = [rouge_tokens(line, stem) for line in candidate.split("\n")]
    gold = [rouge_tokens(line, stem) for line in reference.split("\n")]
    word_counts = Counter(chain.from_iterable(words))
    gold_counts = Counter(chain.from_iterable(gold))
    hits = 0
    for line in gold:
        union = set(chain.from_iterable(_lcs_indexes(line, other) for other in words))
        for index in union:
            word = line[index]
            if word_counts[word] > 0 and gold_counts[word] > 0:
                hits += 1
                word_counts[word] -= 1
                gold_counts[word] -= 1
    return _score(hits, sum(map(len, words)), sum(map(len, gold)))


def rouge1_recall(candidates: Sequence[str], reference: str) -> float:
    """Return the share of the reference's words, counted with repeats, that the candidates hold."""
    return unigram_recall(map(rouge_tokens, candidates), reference)


def unigram_recall(candidates: Iterable[Sequence[str]], reference: str) -> float:
    """Return `rouge1_recall` of candidates that are given as `rouge_tokens`."""
    gold = Counter(rouge_tokens(reference))
    words: Counter[str] = Counter()
    for candidate in candidates:
        words.update(filter(gold.__contains__, candidate))
    return sum(min(n, words[w]) for w, n in gold.items()) / max(gold.total(), 1)


def rouge2_recall(paragraphs: Sequence[str], reference: str) -> list[float]:
    """ROUGE-2 recall of each paragraph against the reference: the label of the ranker.

    The reference is counted once, and of the paragraphs only what it holds too
    (Liu & Lapata 2019, section 3.1).
    """
    return bigram_recalls(map(rouge_tokens, paragraphs), reference)


def bigram_recalls(paragraphs: Iterable[Sequence[str]], reference: str) -> list[float]:
    """Return `rouge2_recall` of paragraphs that are given as `rouge_tokens`."""
    gold = _ngrams(rouge_tokens(reference), 2)
    total = max(gold.total(), 1)
    recalls = []
    for words in paragraphs:
        found = Counter(filter(gold.__contains__, pairwise(words)))
        recalls.append(sum(min(n, gold[gram]) for gram, n in found.items()) / total)
    return recalls
