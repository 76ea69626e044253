"""Compute the features of the paragraphs of a plain-text page that rules keep.

Plain text has no tags, so the features are those of the paragraph itself, its place among the lines
of the page, which of its neighbors are prose, and how its words relate to the rest of the page.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

WINDOWS = (1, 2, 4, 10)  # lines on each side
_WIDTHS = np.array(WINDOWS)[:, None]
SHORT_CHARS = 25
MAX_GAP = 3  # lines between paragraphs of one run of prose
HEAD_CHARS = 400  # of a paragraph whose characters and words are counted
LOG_LONG = log1p(60)  # words
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
SITE = """account accept ads adblock advertisement advertising affiliate alerts app apps article
articles bet blog bonus browser cart click code comment comments commission consent content
contact continue cookie cookies copyright customers deals delivery device discount donate
download email enable exclusive faq feedback fields follow free gift help inbox javascript join
link links log login mail member members membership menu message newsletter newsletters
notifications offer offers online order orders page pages partners password permission
personalized podcast policy popular premium price privacy products purchase read refresh register
reply required reserved review reviews rights search service services settings share shipping
shop sign site spam sponsored stories story stream subscribe subscriber subscribers subscription
support terms ticket tickets trial update updates updated username video videos view visit
visitors watch website websites anmelden beitrag datenschutz datenschutzerklärung einwilligung
kommentar kommentare nutzung seite webseite website werbung"""
_SITE = frozenset(SITE.split())
IMPERATIVES = """read see get learn find click join sign subscribe check try enter visit watch
download start explore discover choose select follow share contact call enjoy browse shop view
buy help add please continue register log save use make create take support don't never"""
_IMPERATIVES = frozenset(IMPERATIVES.split())
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_STOPS = frozenset(".!?…。！？؟।")
_ENDS = _STOPS | frozenset("\"”’»):;'")
_SENTENCE = re.compile(r"[.!?…][\"'”’»)]* +(?=[\"'“‘«(]?[^\W_a-z])")
_OPENING = "•·–—-*|»›▪■►▶→+#@&"
_MARKS = re.compile(r"[|•·»›→►▶©®™✓★]")
_DIGIT = re.compile(r"\d")
_GLUED = re.compile(r"[a-z.!?)][A-Z][a-z]")
OWN = (
    "log_words", "word_chars", "sentences", "words_per_sentence", "stop", "end", "ellipsis",
    "question", "exclamations", "commas", "function_words", "second_person", "past", "site",
    "imperative", "capitals", "all_capitals", "digits", "number_words", "lower_start",
    "digit_start", "mark_start", "quote_start", "quotes", "parentheses", "brackets", "marks",
    "colons", "address", "glued", "non_ascii", "long", "short",
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
    heads = [lines[i][:HEAD_CHARS] for i in kept]
    words = [_WORD.findall(head.lower()) for head in heads]
    own = [
        _own(lines[i], *row) for i, row in zip(kept, zip(heads, words, strict=True), strict=True)
    ]
    place, near = _places(lines, np.array(kept), words)
    return np.concatenate((np.array(own, dtype=np.float64), place, near), axis=1)


def _own(line: str, head: str, words: list[str]) -> tuple[float, ...]:
    """Return the features OWN; what is counted is counted in the first characters, `head`."""
    count = max(1, len(words))
    tokens = head.split()
    letters = "".join([token[0] for token in tokens])
    chars, token_count = len(head), len(tokens)
    sentences = len(_SENTENCE.findall(head)) + 1
    log_words = log1p(line.count(" ") + 1)
    tail = line[-4:]
    last = line[-1]
    return (
        log_words,
        chars / token_count / 10,
        min(sentences, 10) / 10,
        min(token_count / sentences, 60) / 60,
        last in _STOPS or (last in _ENDS and len(tail) > 1 and tail[-2] in _STOPS),
        last in _ENDS,
        "…" in tail or "..." in tail,
        "?" in head,
        min(head.count("!"), 3) / 3,
        min(1, head.count(",") / token_count * 5),
        sum(map(_FUNCTION_WORDS.__contains__, words)) / count,
        sum(map(_SECOND_PERSON.__contains__, words)) / count * 5,
        sum(map(_PAST.__contains__, words)) / count * 5,
        sum(map(_SITE.__contains__, words)) / count * 5,
        bool(words) and words[0] in _IMPERATIVES,
        sum(map(str.isupper, letters)) / token_count,
        sum(map(str.isupper, tokens)) / token_count,
        min(1.0, len(_DIGIT.findall(head)) / chars * 10),
        len(_DIGIT.findall(letters)) / token_count,
        head[0].islower(),
        head[0].isdigit(),
        head[0] in _OPENING,
        head[0] in "\"'“‘«„",
        min(1.0, (head.count('"') + head.count("“") + head.count("”")) / sentences / 2),
        min(1.0, head.count("(") / sentences),
        min(1.0, head.count("[") / sentences),
        min(3, len(_MARKS.findall(head))) / 3,
        min(1.0, head.count(":") / sentences),
        "http" in head or "www." in head or "@" in head,
        min(1.0, len(_GLUED.findall(head)) / sentences),
        not line.isascii(),
        log_words > LOG_LONG,
        token_count < 15,
    )


def _places(lines: Sequence[str], kept: NDArray[Any], words: list[list[str]]) -> list[Floats]:
    count, index, seen = len(lines), np.arange(len(kept)), Counter(lines)
    lengths = np.fromiter(map(len, lines), np.float64, count)
    prose = np.zeros(count)
    prose[kept] = lengths[kept]
    chars = prose[kept]
    before = np.cumsum(chars) - chars
    total = chars.sum()
    bounds = np.array([-1, *kept, count])
    gaps = bounds[1:] - bounds[:-1] - 1
    run_of = np.cumsum(gaps[:-1] > MAX_GAP)  # the number of each paragraph's run, from 0 or 1
    run_chars, run_counts = np.bincount(run_of, chars), np.bincount(run_of)
    longest = int(np.argmax(run_chars))
    inside = kept[run_of == longest]
    to_longest = np.maximum(inside[0] - kept, 0) - np.maximum(kept - inside[-1], 0)
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
        [seen[lines[i]] > 1 for i in kept],
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
        np.log(chars * len(kept) / total),
    ]
    return [np.array(place, dtype=np.float64).T, _neighbors(kept, lengths, prose)]


def _neighbors(kept: NDArray[Any], lengths: Floats, prose: Floats) -> Floats:
    """Return shares of prose and of short lines in windows, [kept, windows x NEAR]."""
    sums = np.zeros((3, len(lengths) + 1))
    np.cumsum((prose, lengths, lengths < SHORT_CHARS), axis=1, out=sums[:, 1:])
    before = sums[:, None, kept] - sums[:, np.maximum(kept - _WIDTHS, 0)]  # [3, windows, kept]
    after = sums[:, np.minimum(kept + 1 + _WIDTHS, len(lengths))] - sums[:, None, kept + 1]
    columns = (
        before[0] / np.maximum(before[1], 1),
        after[0] / np.maximum(after[1], 1),
        before[2] / _WIDTHS,
        after[2] / _WIDTHS,
    )
    return np.stack(columns, axis=1).reshape(-1, len(kept)).T


def _relations(title: str, words: list[list[str]]) -> tuple[list[float], list[float]]:
    """Return the shares of a line's long words that are in the title and in other lines."""
    content = [{word for word in found if len(word) >= MIN_CONTENT_CHARS} for found in words]
    in_title = set(_WORD.findall(title[:300].lower()))
    in_lines = Counter(word for found in content for word in found)
    return (
        [len(found & in_title) / max(1, len(found)) for found in content],
        [sum(in_lines[word] > 1 for word in found) / max(1, len(found)) for found in content],
    )
