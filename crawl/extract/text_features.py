"""Compute the features of the paragraphs of a plain-text page that rules keep.

Plain text has no tags, so the features are those of the paragraph itself, its place among the lines
of the page, which of its neighbors are prose, and how its words relate to the rest of the page.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

WINDOWS = (1, 2, 4, 10)  # lines on each side
SHORT_CHARS = 25
MAX_GAP = 3  # lines between paragraphs of one run of prose
MAX_WORDS = 150  # of a paragraph whose words are looked at
MIN_CONTENT_CHARS = 5
FUNCTION_WORDS = """the of and to in a is was that for on with as by at from it an be are his
their der die das und den von zu mit des ist im dem ein eine nicht war le la les et du en une
dans est que pour qui par sur au il el los las del y un por con para su se al como di della che
per da si nel o os as do dos uma não de het van een te dat voor zijn op w i z na się nie to jest
och att som är på av"""
_FUNCTION_WORDS = frozenset(FUNCTION_WORDS.split())
SECOND_PERSON = "you your yours we our us i my me"
_SECOND_PERSON = frozenset(SECOND_PERSON.split())
PAST = "was were had he she his her they their him been did said"
_PAST = frozenset(PAST.split())
IMPERATIVES = """read see get learn find click join sign subscribe check try enter visit watch
download start explore discover choose select follow share contact call enjoy browse shop view
buy help add please continue register log save use make create take support don't never"""
_IMPERATIVES = frozenset(IMPERATIVES.split())
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STOPS = frozenset(".!?…。！？؟।")
_ENDS = _STOPS | frozenset("\"”’»):;'")
_SENTENCE = re.compile(r"[.!?…][\"'”’»)]* +(?=[\"'“‘«(]?[^\W_a-z])")
_OPENING = "•·–—-*|»›▪■►▶→+#@&"
_MARKS = "|•·»›→►▶©®™✓★"
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}\b"
    r"|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{1,2}:\d{2}\b"
    r"|\b(?:hours?|days?|minutes?|months?|years?) ago\b",
    re.IGNORECASE,
)
_GLUED = re.compile(r"[a-z.!?)][A-Z][a-z]")
OWN = (
    "log_words", "word_chars", "sentences", "words_per_sentence", "stop", "end", "ellipsis",
    "question", "exclamations", "commas", "function_words", "second_person", "past", "imperative",
    "capitals", "all_capitals", "digits", "number_words", "lower_start", "digit_start",
    "mark_start", "quote_start", "quotes", "parentheses", "brackets", "marks", "colons", "address",
    "date", "glued", "non_ascii", "long", "short",
)  # fmt: skip
PLACE = (
    "place", "prose_place", "is_first", "is_last", "log_before", "log_after", "gap_before",
    "gap_after", "repeated", "in_longest", "run_share", "log_run", "log_run_count", "to_longest",
    "title_words", "shared_words", "log_page_words", "log_page_lines", "page_prose", "share",
    "relative_words",
)  # fmt: skip
NEAR = ("prose_before", "prose_after", "short_before", "short_after")
NAMES = (*OWN, *PLACE, *(f"{name}_{window}" for window in WINDOWS for name in NEAR))


def text_features(lines: Sequence[str], kept: Sequence[int]) -> Floats:
    """Return the features of `lines[kept]`, [kept, NAMES].

    `kept` holds the indexes of at least one line, in increasing order.
    """
    words = [_WORD.findall(lines[i][: MAX_WORDS * 12].lower())[:MAX_WORDS] for i in kept]
    own = np.array([_own(lines[i], found) for i, found in zip(kept, words, strict=True)])
    place, near = _places(lines, np.array(kept), words)
    return np.concatenate((own, place, near), axis=1)


def _own(line: str, words: list[str]) -> tuple[float, ...]:
    count = max(1, len(words))
    tokens = line.split()
    chars, token_count = len(line), len(tokens)
    sentences = len(_SENTENCE.findall(line)) + 1
    tail = line[-4:]
    letters = [token[0] for token in tokens]
    return (
        np.log1p(token_count),
        chars / token_count / 10,
        min(sentences, 10) / 10,
        min(token_count / sentences, 60) / 60,
        line[-1] in _STOPS or (line[-1] in _ENDS and len(tail) > 1 and tail[-2] in _STOPS),
        line[-1] in _ENDS,
        "…" in tail or "..." in tail,
        "?" in line,
        min(line.count("!"), 3) / 3,
        min(1, line.count(",") / token_count * 5),
        sum(map(_FUNCTION_WORDS.__contains__, words)) / count,
        sum(map(_SECOND_PERSON.__contains__, words)) / count * 5,
        sum(map(_PAST.__contains__, words)) / count * 5,
        bool(words) and words[0] in _IMPERATIVES,
        sum(map(str.isupper, letters)) / token_count,
        sum(len(t) > 1 and t.isupper() for t in tokens) / token_count,
        min(1.0, sum(map(str.isdigit, line)) / chars * 10),
        sum(map(str.isdigit, letters)) / token_count,
        line[0].islower(),
        line[0].isdigit(),
        line[0] in _OPENING,
        line[0] in "\"'“‘«„",
        min(1.0, (line.count('"') + line.count("“") + line.count("”")) / sentences / 2),
        min(1.0, line.count("(") / sentences),
        min(1.0, line.count("[") / sentences),
        min(3, sum(map(line.count, _MARKS))) / 3,
        min(1.0, line.count(":") / sentences),
        "http" in line or "www." in line or "@" in line,
        bool(_DATE.search(line[:400])),
        min(1.0, len(_GLUED.findall(line)) / sentences),
        not line.isascii(),
        token_count > 60,
        token_count < 15,
    )


def _places(lines: Sequence[str], kept: NDArray[Any], words: list[list[str]]) -> list[Floats]:
    count, index = len(lines), np.arange(len(kept))
    lengths = np.fromiter(map(len, lines), np.float64, count)
    prose = np.zeros(count)
    prose[kept] = lengths[kept]
    chars = prose[kept]
    before = np.cumsum(chars) - chars
    total = chars.sum()
    gaps = np.diff(kept, prepend=-1, append=count) - 1
    run_of = np.cumsum(gaps[:-1] > MAX_GAP)  # the number of each paragraph's run, from 0 or 1
    run_chars, run_counts = np.bincount(run_of, chars), np.bincount(run_of)
    longest = int(np.argmax(run_chars))
    inside = kept[run_of == longest]
    to_longest = np.maximum(inside[0] - kept, 0) - np.maximum(kept - inside[-1], 0)
    times = Counter(lines)
    title, shared = _relations(lines[0], words)
    place = [
        (kept + 0.5) / count,
        (before + chars / 2) / total,
        index == 0,
        index == len(kept) - 1,
        np.log1p(before) / 10,
        np.log1p(total - before - chars) / 10,
        np.log1p(gaps[:-1]) / 5,
        np.log1p(gaps[1:]) / 5,
        np.array([times[lines[i]] > 1 for i in kept]),
        run_of == longest,
        run_chars[run_of] / total,
        np.log1p(run_chars[run_of]) / 10,
        np.log1p(run_counts[run_of]) / 5,
        np.sign(to_longest) * np.log1p(np.abs(to_longest)) / 5,
        title,
        shared,
        np.full(len(kept), np.log1p(total) / 10),
        np.full(len(kept), np.log1p(count) / 10),
        np.full(len(kept), total / lengths.sum()),
        chars / total,
        np.log(chars / np.median(chars)),
    ]
    return [np.array(place, dtype=np.float64).T, _neighbors(kept, lengths, prose)]


def _neighbors(kept: NDArray[Any], lengths: Floats, prose: Floats) -> Floats:
    """Return shares of prose and of short lines in windows, [kept, windows x NEAR]."""
    sums = np.zeros((3, len(lengths) + 1))
    np.cumsum((prose, lengths, lengths < SHORT_CHARS), axis=1, out=sums[:, 1:])
    columns = []
    for window in WINDOWS:
        first = np.maximum(kept - window, 0)
        end = np.minimum(kept + 1 + window, len(lengths))
        before = sums[:, kept] - sums[:, first]
        after = sums[:, end] - sums[:, kept + 1]
        columns += [
            before[0] / np.maximum(before[1], 1),
            after[0] / np.maximum(after[1], 1),
            before[2] / window,
            after[2] / window,
        ]
    return np.array(columns).T


def _relations(title: str, words: list[list[str]]) -> tuple[list[float], list[float]]:
    """Return the shares of a line's long words that are in the title and in other lines."""
    content = [{word for word in found if len(word) >= MIN_CONTENT_CHARS} for found in words]
    in_title = set(_WORD.findall(title[:300].lower()))
    in_lines = Counter(word for found in content for word in found)
    return (
        [len(found & in_title) / max(1, len(found)) for found in content],
        [sum(in_lines[word] > 1 for word in found) / max(1, len(found)) for found in content],
    )
