"""ROUGE (Lin 2004), equal to the `rouge-score` package to the last digit, and much faster.

`rougeL` takes each text as one sequence; `rougeLsum` parts it at line breaks and takes the union
of the sentences' longest common subsequences. The two differ by many points on the same text:
always say which one is meant.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
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
    """The length of the longest common subsequence.

    Bit-parallel (Hyyrö 2004): one long integer holds a row of the dynamic programme.
    """
    if len(first) > len(second):
        first, second = second, first
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    mask = (1 << len(first)) - 1
    row = mask
    for word in second:
        if hit := places.get(word):
            step = row & hit
            row = (row + step | row - step) & mask
    return len(first) - row.bit_count()


def _rouge_lsum(candidate: str, reference: str, stem: bool) -> dict[str, float]:
    """Union of the sentences' common subsequences, each word counted as often as it may be."""
    words = [t for s in candidate.split("\n") if (t := rouge_tokens(s, stem))]
    gold = [t for s in reference.split("\n") if (t := rouge_tokens(s, stem))]
    word_counts = Counter(w for sentence in words for w in sentence)
    gold_counts = Counter(w for sentence in gold for w in sentence)
    hits = 0
    for sentence in gold:
        union: set[int] = set()
        for other in words:
            union.update(_lcs_places(sentence, other))
        for place in sorted(union):
            word = sentence[place]
            if word_counts[word] > 0 and gold_counts[word] > 0:
                hits += 1
                word_counts[word] -= 1
                gold_counts[word] -= 1
    return _score(hits, sum(map(len, words)), sum(map(len, gold)))


def _lcs_places(gold: Sequence[str], words: Sequence[str]) -> list[int]:
    """Where in `gold` one longest common subsequence with `words` stands.

    Of several, the one that the usual trace back from the ends gives (a step in `words` before
    one in `gold` where both are as good).
    """
    rows = [[0] * (len(words) + 1)]
    for word in gold:
        above = rows[-1]
        row = [0]
        for column, other in enumerate(words):
            row.append(above[column] + 1 if word == other else max(above[column + 1], row[column]))
        rows.append(row)
    places: list[int] = []
    i, j = len(gold), len(words)
    while i and j:
        if gold[i - 1] == words[j - 1]:
            places.append(i - 1)
            i, j = i - 1, j - 1
        elif rows[i][j - 1] > rows[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


def rouge1_recall(candidates: Sequence[str], reference: str) -> float:
    """The share of the reference's words, counted with repeats, that the candidates hold."""
    gold = Counter(rouge_tokens(reference))
    words: Counter[str] = Counter()
    for candidate in candidates:
        words.update(filter(gold.__contains__, rouge_tokens(candidate)))
    return sum(min(n, words[w]) for w, n in gold.items()) / max(gold.total(), 1)


def rouge2_recall(paragraphs: Sequence[str], reference: str) -> list[float]:
    """ROUGE-2 recall of each paragraph against the reference: the label of the ranker.

    The reference is counted once, and of the paragraphs only what it holds too
    (Liu & Lapata 2019, section 3.1).
    """
    gold = _ngrams(rouge_tokens(reference), 2)
    total = max(gold.total(), 1)
    recalls = []
    for paragraph in paragraphs:
        words = rouge_tokens(paragraph)
        found = Counter(filter(gold.__contains__, pairwise(words)))
        recalls.append(sum(min(n, gold[gram]) for gram, n in found.items()) / total)
    return recalls


def rougel_recall(candidate: str, reference: str) -> float:
    """ROUGE-L recall of a text, however long, against the reference."""
    gold = rouge_tokens(reference)
    return lcs_length(gold, rouge_tokens(candidate)) / max(len(gold), 1)
