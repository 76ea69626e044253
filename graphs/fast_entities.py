"""Named entities by a small linear tagger: a fast approximation of spaCy's.

The tagger labels each token as the beginning of a name, inside one, or outside. Only tokens near
capital letters are labeled. The score of a label is the sum of the integer weights of the token's
features, and that of a sequence adds a weight per pair of neighboring labels; the best sequence is
found exactly (Viterbi). Collins 2002 describes the model and how it is trained;
`benchmarks/train_entities.py` trained the weights on what spaCy finds in real paragraphs.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

BEGIN, INSIDE, OUTSIDE = range(3)
WEIGHTS = Path(__file__).with_name("fast_entities.json")
MAX_GAP = 3  # tokens without a capital inside a name, as in `University of the West`
_TOKEN = re.compile(r"(?:[^\W\d_]\.){2,}|\w+|[^\w\s]")
_SENTENCE_ENDS = frozenset(".!?")
_NO_WEIGHTS = (0, 0, 0)

Weights = tuple[int, int, int]


class Token(NamedTuple):
    """A word or a punctuation mark, its position in the text, and what features are made of."""

    text: str
    start: int
    end: int
    lower: str
    shape: str


class Tagger(NamedTuple):
    """The weights of each feature by label, and of each label after another, [3][3]."""

    features: dict[str, Weights]
    transitions: Sequence[Sequence[int]]


@cache
def load_tagger() -> Tagger:
    """Return the trained tagger; loaded once per process."""
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    features = {name: (b, i, o) for name, (b, i, o) in stored["features"].items()}
    return Tagger(features, stored["transitions"])


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text: words, initials (`U.S.`), and single punctuation marks."""
    tokens = []
    for match in _TOKEN.finditer(text):
        word = match[0]
        tokens.append(Token(word, match.start(), match.end(), word.lower(), word_shape(word)))
    return tokens


def word_shape(word: str) -> str:
    """Return `x` for lower case, `X` for capitals, `Xx` for both, `d` for digits, or the mark."""
    if word.islower():
        return "x"
    if word.isdigit():
        return "d"
    if word.isupper():
        return "X" if len(word) > 1 else "X1"
    return "Xx" if word != word.lower() else word


def zones(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of tokens that may hold names.

    A range goes from a token with a capital to the last one that follows within `MAX_GAP` tokens,
    and a number or mark behind it.
    """
    start, last = -1, -1
    for i, token in enumerate(tokens):
        if token.shape[0] != "X":
            continue
        if start >= 0 and i - last > MAX_GAP + 1:
            yield start, _with_next(tokens, last)
            start = i
        start, last = (i if start < 0 else start), i
    if start >= 0:
        yield start, _with_next(tokens, last)


def _with_next(tokens: Sequence[Token], last: int) -> int:
    following = tokens[last + 1].shape if last + 1 < len(tokens) else "x"
    return last + 1 if following == "x" else last + 2


def features(tokens: Sequence[Token], i: int) -> list[str]:
    """Return the features of a token: it, its neighbors, their shapes, prefix and suffix."""
    token = tokens[i]
    before = tokens[i - 1] if i else _EDGE
    before_2 = tokens[i - 2] if i > 1 else _EDGE
    after = tokens[i + 1] if i + 1 < len(tokens) else _EDGE
    after_2 = tokens[i + 2] if i + 2 < len(tokens) else _EDGE
    lower, shape = token.lower, token.shape
    starts = "^" if not i or before.text in _SENTENCE_ENDS else "_"
    return [
        "w " + lower,
        "s " + starts + shape,
        "ws " + starts + shape + " " + lower,
        "p " + lower[:3] + " " + shape,
        "e " + lower[-3:] + " " + shape,
        "b " + before.lower,
        "a " + after.lower,
        "b2 " + before_2.lower,
        "a2 " + after_2.lower,
        "bw " + before.lower + " " + lower,
        "wa " + lower + " " + after.lower,
        "bs " + before.shape + " " + shape + " " + after.shape,
        "b2s " + before_2.shape + " " + before.shape + " " + shape,
        "a2s " + shape + " " + after.shape + " " + after_2.shape,
        "bws " + before.lower + " " + shape + " " + after.shape,
        "aws " + after.lower + " " + shape + " " + before.shape,
    ]


_EDGE = Token("", 0, 0, "", "|")


def best_labels(emissions: Sequence[Weights], transitions: Sequence[Sequence[int]]) -> list[int]:
    """Return the sequence of labels with the largest sum; before the first token is OUTSIDE.

    `emissions` are [T][3]; `transitions[k][l]` is added where label l follows k. No name continues
    (INSIDE) behind a token that is OUTSIDE. Of equal sequences the one of lower labels is taken.
    """
    scores: list[float] = [-float("inf"), -float("inf"), 0]
    back: list[tuple[int, ...]] = []
    for emission in emissions:
        came, after = [], []
        for label in (BEGIN, INSIDE, OUTSIDE):
            allowed = (BEGIN, INSIDE) if label == INSIDE else (BEGIN, INSIDE, OUTSIDE)
            best = max(allowed, key=lambda k: scores[k] + transitions[k][label])
            came.append(best)
            after.append(scores[best] + transitions[best][label] + emission[label])
        back.append(tuple(came))
        scores = after
    label = max((BEGIN, INSIDE, OUTSIDE), key=scores.__getitem__)
    labels = []
    for before in reversed(back):
        labels.append(label)
        label = before[label]
    return labels[::-1]


def emissions_of(tagger: Tagger, tokens: Sequence[Token], start: int, end: int) -> list[Weights]:
    """Return the scores of the three labels for each token of a range, [T][3]."""
    weights, found = tagger.features, []
    for i in range(start, end):
        b = n = o = 0
        for name in features(tokens, i):
            one, two, three = weights.get(name, _NO_WEIGHTS)
            b, n, o = b + one, n + two, o + three
        found.append((b, n, o))
    return found


def fast_entities(text: str, tagger: Tagger | None = None) -> list[str]:
    """Return the names in a text, in order, as they stand there."""
    tagger = tagger or load_tagger()
    tokens = tokenize(text)
    names = []
    for start, end in zones(tokens):
        labels = best_labels(emissions_of(tagger, tokens, start, end), tagger.transitions)
        names += [
            text[tokens[start + i].start : tokens[start + j - 1].end] for i, j in spans(labels)
        ]
    return names


def spans(labels: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the names in a sequence of labels."""
    start = -1
    for i, label in enumerate([*labels, OUTSIDE]):
        if start >= 0 and label != INSIDE:
            yield start, i
            start = -1
        if label == BEGIN:
            start = i
