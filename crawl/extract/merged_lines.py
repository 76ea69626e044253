"""Cut menus out of lines of plain text in which they are merged with sentences."""

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from wikisum.crawl.boilerplate import is_notice
from wikisum.crawl.menus import capital_counts, has_german, is_path, is_share_bar
from wikisum.crawl.paragraphs import MAX_BOILERPLATE_WORDS
from wikisum.crawl.sentence_ends import split_sentences

MIN_WORDS = 40  # of a line that is searched
MIN_CHARS = 3 * MIN_WORDS  # of such a line, nearly always; a quick check
WINDOW = 20  # words
MAX_OTHER = 4  # words of a window of a menu that are no names
MAX_MARKS = 2  # words of such a window that end in punctuation
_NAME = r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\S*"
_CAPITALS = re.compile(" ".join([_NAME] * 6))  # in a line with a menu; seldom in others
# Where a capitalized word follows without a space: behind a stop, a closing quote or a number, and
# behind any word if the capitalized one is one that begins sentences.
_GLUE = re.compile(
    r"(?=[\"“‘(]?(?:[A-Z][a-z]|A [a-z]))"
    r"(?:(?<=[a-z]{2}[.!?])|(?<=[a-z0-9)][.!?][)\"”])|(?<=[a-z]{2}”)"
    r"|(?<=\d\d)(?!(?:Hz|Pa|Wh|Ah|Nm|[KMGT](?:m|g|b|bit|bps|byte)s?)\b)"  # but units
    r"|(?<=[a-z]{3})(?=(?:The|There|These|They|This|What|When)\b))"
)
# The same, and behind a word of three to twelve small letters.
_MORE_GLUE = re.compile(
    _GLUE.pattern[:-1] + "".join(rf"|(?<=[ (“][a-z]{{{length}}})" for length in range(3, 13)) + ")"
)
# All that these match has such a capital; a quick check.
_GLUED_CAPITAL = re.compile(r"[A-Z](?:(?<=[a-z0-9.!?)”][A-Z])|(?<=[a-z0-9.!?)”][\"“‘(][A-Z]))")
MIN_GLUED = 2  # places of any kind; from this number on, lower-case words are cut too
MIN_MENU_SENTENCE = 45  # words of a sentence that may hold a menu
MIN_MENU_CAPITALS = 0.4  # of its words
WORDS_PER_MARK = 12  # words for each comma or semicolon of a list of names
MIN_CUT = 3  # sentences of a paragraph that is dropped as a whole
MIN_CUT_SHARE = 1 / 3  # of its sentences
# The labels of buttons and links, with their capitals. Each begins with a literal character, which
# is faster than a group.
_BUTTON = re.compile(
    r"(?:Read More|Read [Mm]ore ?»|Read also(?=[A-Z])\w*|Copy [Ll]ink|Download Free PDF"
    r"|Opens in a new \w+|RELATED [A-Z]+|Related (?:Articles|Posts|Stories|Topics)"
    r"|Subscribers? only|No Comments"
    r"|Share (?:Share|Via|via|This)|Share on (?:Twitter|Facebook)|Skip to|Log ?[Ii]n|Sign (?:Up|In)"
    r"|Add to (?:Cart|cart|Wishlist)|View (?:All|More)|See All|Show More|Load More|Learn More"
    r"|Click Here|Follow Us|Contact Us|About Us|Privacy Policy|Cookie Policy"
    r"|Terms (?:of|and|&) (?:Use|Service|Conditions)|All Rights Reserved|Back to [Tt]op|Main Menu"
    r"|My Account|Subscribe Now|Previous Post|Next Post|Leave a (?:Comment|Reply)"
    r"|Why you can trust)(?![a-z\d_])"  # the next word may be glued to it
)
_PATH_IN_TEXT = re.compile(r"(?: [»|] |›)(?=\s?[A-Z])[^.«»›|]{0,80}(?: [»|] |›)(?=\s?[A-Z])")
_QUOTES = frozenset("\"“'‘")
_MARKS = frozenset('.,;:!?)"”')


def split_menus(line: str) -> list[str]:
    """Return the menus of a line and the text between them, in order; no word is lost.

    A menu is a run of at least 20 words that are names: in each window of 20 words at most 4 do not
    begin with a capital and at most 2 end in punctuation. Lines of under 40 words stay whole. White
    space is normalized.

        >>> names = "Home News Sports Weather Travel Books Music Film Games Cars " * 3
        >>> text = "The iron bridge over the river was opened in 1881, and was long the longest."
        >>> split_menus(names + text) == [names.strip(), text]
        True
    """
    if len(line) < MIN_CHARS or line == line.lower() or line.count(" ") < MIN_WORDS - 1:
        return [line]
    if not _CAPITALS.search(line):
        return [line]
    words = line.split()
    pieces = []
    start = 0
    for first, end in _menus(words):
        pieces += [words[start:first], words[first:end]]
        start = end
    pieces.append(words[start:])
    return [" ".join(piece) for piece in pieces if piece]


def split_glued(line: str) -> list[str]:
    """Return the parts of a line of at least 40 words whose ends are glued to the next part.

    A part ends after a full stop, a closing quote or a number that is followed by a capitalized
    word without a space. If the line has at least two glued places, a part also ends after a
    lower-case word. Names such as McArthur and YouTube stay whole, and so do units such as 50Hz.

        >>> text = "The bridge over the river was built of iron." * 5
        >>> split_glued(text) == ["The bridge over the river was built of iron."] * 5
        True
    """
    if len(line) < MIN_CHARS or not _GLUED_CAPITAL.search(line):
        return [line]
    if len(line.split(None, MIN_WORDS)) <= MIN_WORDS:
        return [line]
    parts = []
    start = 0
    places = list(_MORE_GLUE.finditer(line))
    for glue in places if len(places) >= MIN_GLUED else _GLUE.finditer(line):
        end = glue.start()
        quotes = line.count('"', start, end)
        if line[end - 1] == '"' and quotes % 2:  # it opens the next part
            end -= 1
        elif line[end] == '"' and quotes % 2:  # it closes this one
            end += 1
        parts.append(line[start:end].strip())
        start = end
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def cut_furniture(paragraph: str) -> str:
    """Return a paragraph without its sentences that hold a menu, button, path to a page or notice.

    A sentence holds a menu if at least 40 % of its 45 or more words begin with a capital and
    less than a twelfth ends in a comma or semicolon, unlike a list of names. Buttons ("Read More"),
    paths and notices are looked for in paragraphs of over 60 words; shorter ones are judged as a
    whole elsewhere. If a third or more, and at least three, of the sentences are cut, nothing is
    left.

        >>> menu = "Home News Sports " * 8 + "the bridge in the valley of the river was old " * 3
        >>> cut_furniture(menu.strip() + ". It was built of iron by Ada Holm.")
        'It was built of iron by Ada Holm.'
    """
    word_count = paragraph.count(" ") + 1
    if word_count < MIN_MENU_SENTENCE:
        return paragraph
    kinds: list[Callable[[str], bool]] = [_has_menu]
    if word_count > MAX_BOILERPLATE_WORDS:
        kinds.append(is_notice)  # it costs less for the sentences than for all of them at once
        kinds += [kind for kind in (_has_button, is_share_bar, is_path) if kind(paragraph)]
    sentences = split_sentences(paragraph)
    kept = [sentence for sentence in sentences if not any(kind(sentence) for kind in kinds)]
    cut_count = len(sentences) - len(kept)
    if cut_count >= MIN_CUT and cut_count >= MIN_CUT_SHARE * len(sentences):
        return ""
    return " ".join(kept) if cut_count else paragraph


def _has_button(text: str) -> bool:
    """Return whether a text has the label of a button outside quotes, or the path to a page."""
    for match in _BUTTON.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before not in _QUOTES and not before.isalpha():
            return True
    return any(mark in text for mark in "»›|") and bool(_PATH_IN_TEXT.search(text))


def _has_menu(sentence: str) -> bool:
    """Return whether a long sentence has the capitals of a menu and few commas."""
    word_count = sentence.count(" ") + 1
    if word_count < MIN_MENU_SENTENCE:
        return False
    if (sentence.count(",") + sentence.count(";")) * WORDS_PER_MARK >= word_count:
        return False
    words = sentence.split()
    capitals, count = capital_counts(words)
    return capitals >= MIN_MENU_CAPITALS * count and not has_german(words)


def _menus(words: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first word and the end of each run of windows that are parts of a menu."""
    is_small = {c: c.isalpha() and not c.isupper() for c in {word[0] for word in words}}
    other = [len(word) == 1 or is_small[word[0]] for word in words]
    marked = [word[-1] in _MARKS for word in words]
    is_menu = (_in_windows(other) <= MAX_OTHER) & (_in_windows(marked) <= MAX_MARKS)
    start = 0
    for first, last in _runs(is_menu):
        begin, stop = _trimmed(other, marked, max(first, start), last + WINDOW)
        if stop - begin >= WINDOW:
            yield begin, stop
            start = stop


def _in_windows(flags: list[bool]) -> NDArray[np.int64]:
    """Return for each window the number of its words with a flag."""
    sums = np.concatenate(([0], np.cumsum(flags, dtype=np.int64)))
    return np.asarray(sums[WINDOW:] - sums[:-WINDOW])


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and the last index of each run of true flags."""
    bounds = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in bounds.reshape(-1, 2)]


def _trimmed(other: list[bool], marked: list[bool], start: int, end: int) -> tuple[int, int]:
    """Return the bounds of a menu without the ends of sentences that its windows reach into.

    Where the last window ends within a sentence, that begins one word before the first of the last
    ten words that is no name. In front, what ends in punctuation or with a word that is no name,
    within the first ten words, belongs to the sentence before.
    """
    first = start
    for i in range(start, min(start + WINDOW // 2, end)):
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
