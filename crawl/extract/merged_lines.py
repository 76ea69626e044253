"""Cut menus out of lines of plain text in which they are merged with sentences."""

import re
from collections.abc import Iterator
from itertools import accumulate

MIN_WORDS = 40  # of a line that is searched
WINDOW = 20  # words
MAX_OTHER = 4  # words of a window of a menu that are no names
MAX_MARKS = 2  # words of such a window that end in punctuation
_CAPITALS = re.compile(r"(?:[^\W_a-z\d]\S* ){4}")  # in every window of a menu
_MARKS = (".", ",", ";", ":", "!", "?", ")", '"', "”")


def split_menus(line: str) -> list[str]:
    """Return the menus of a line and the text between them, in order; no word is lost.

    A menu is a run of at least 20 words that are names: in each window of 20 words at most 4 do not
    begin with a capital and at most 2 end in punctuation. Lines of under 40 words stay whole.

        >>> names = "Home News Sports Weather Travel Books Music Film Games Cars " * 3
        >>> text = "The iron bridge over the river was opened in 1881, and was long the longest."
        >>> split_menus(names + text) == [names.strip(), text]
        True
    """
    if line.count(" ") + 1 < MIN_WORDS or not _CAPITALS.search(line):
        return [line]
    words = line.split()
    pieces = []
    start = 0
    for first, end in _menus(words):
        pieces += [words[start:first], words[first:end]]
        start = end
    pieces.append(words[start:])
    return [" ".join(piece) for piece in pieces if piece]


def _menus(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first word and the end of each run of windows that are parts of a menu."""
    other = [_is_no_name(word) for word in words]
    marked = [word.endswith(_MARKS) for word in words]
    others, marks = list(accumulate(other, initial=0)), list(accumulate(marked, initial=0))
    last = len(words) - WINDOW
    start = 0
    while start <= last:
        end = start
        while end <= last and _is_menu(others, marks, end):
            end += 1
        if end > start:
            first, stop = _trimmed(other, marked, start, end - 1 + WINDOW)
            if stop - first >= WINDOW:
                yield first, stop
                end = stop
        start = end + (end == start)


def _is_no_name(word: str) -> bool:
    """Whether a word has no capital, as in scripts without case, or is a symbol."""
    return len(word) == 1 or (word[0].isalpha() and not word[0].isupper())


def _is_menu(others: list[int], marks: list[int], start: int) -> bool:
    end = start + WINDOW
    return others[end] - others[start] <= MAX_OTHER and marks[end] - marks[start] <= MAX_MARKS


def _trimmed(other: list[bool], marked: list[bool], start: int, end: int) -> tuple[int, int]:
    """Return the bounds of a menu without the ends of sentences that its windows reach into.

    Where the last window ends within a sentence, that begins one word before the first of the last
    ten words that is no name. In front, what ends in punctuation or with a word that is no name,
    within the first ten words, belongs to the sentence before.
    """
    first = start
    for i in range(start, start + WINDOW // 2):
        if other[i] or marked[i]:
            first = i + 1
    stop = end
    for i in range(end - 1, end - 1 - WINDOW // 2, -1):
        if other[i]:
            stop = i
    if stop < end:
        stop -= 1
    elif end < len(other) and other[end]:
        stop = end - 1
    return first, max(stop, first)
