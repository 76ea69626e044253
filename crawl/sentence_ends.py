"""Find the complete sentences of a paragraph."""

import re
from collections.abc import Iterator
from itertools import pairwise

# A full stop or its equivalent in other scripts, before space or the end.
_STOP = re.compile(r"[.!?…。！？｡।॥؟۔።](?:(?<![.!?…])|[\"'”’»)\]]*(?=\s|$|\[))")
_FULL_STOPS = frozenset("。！？｡।॥؟۔።")
_ASCII_STOPS = ".?!"
_STOPS = _ASCII_STOPS + "…。！？｡।॥؟۔።"
_CLOSERS = "\"'”’»)]"
_IN_WORD = re.compile(r"\w")
_OPEN_END = re.compile(r"(?:[\w,–…-]|\.\.\.)$")
_NOTED_END = re.compile(r"[.!?…][\"'”’»)\]]*\d{1,3}$")  # a stop and the number of a note
# What stays behind the last stop: a name behind a quotation, or text that ends with an address.
_SIGNATURE = re.compile(r"\s*[–—-]+\s*[^\W_a-z]|.*(?:://|\.com?/|[@#])\S+$")
MAX_WORD_CHARS = 40  # of the word before a stop, with closing marks
MAX_END_CHARS = 8  # a stop, closing marks and the number of a note
MAX_TAIL_CHARS = 1000  # of a sentence that is cut off
_THREE_WORDS = re.compile(r"(?:[^\W\d_]{2,}(?![^\W\d_]).*?){3}", re.DOTALL)
# What may stand between a stop and the next sentence: closing marks, notes, opening marks.
_BETWEEN = re.compile(r"[\"'”’»)\]]*(?:\[[^\]]{1,20}\])*\s*[\"'“‘„«(\[¿¡–—-]*\s*")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]$|\d{1,2}$")  # "U.S", "J", "3"
# Words with a full stop inside a sentence; those of the first list never end one.
_TITLES = """adm al approx apt assn ave blvd bros brig ca capt cf cmdr co col corp dept dr ed eds
esp est feat fig fl fr ft gen gov hon hr inc jan feb apr aug sept oct nov dec lt ltd maj messrs mgr
mr mrs ms mt nr no nos op p para pp prof pt pvt rep rev sen sgt st str supt tel univ vol vols vs v
bzw geb gest hl hrsg inkl usw vgl zb sog mme mlle sra srta ud núm pág ul"""
_OTHERS = "etc jr sr phd bc ad a.m p.m i.e e.g am pm"
_NEVER_LAST = frozenset(_TITLES.split())
_ABBREVIATIONS = _NEVER_LAST | frozenset(_OTHERS.split())


def has_sentence(paragraph: str) -> bool:
    """Return whether three words end with a stop that closes a sentence.

    Such a stop ends the paragraph or stands before a capital, and does not belong to an
    abbreviation. In scripts without spaces any full stop counts. Dots of an unfinished teaser do
    not.

        >>> has_sentence("New Orleans Pelicans vs. Phoenix Suns")
        False
        >>> has_sentence("The bridge was opened in 1881 by Mr. Penrose.")
        True
    """
    if not any([stop in paragraph for stop in (_ASCII_STOPS if paragraph.isascii() else _STOPS)]):
        return False
    start = 0
    for stop in _sentence_stops(paragraph):
        if stop[0] in _FULL_STOPS or _THREE_WORDS.search(paragraph, start, stop.start()):
            return True
        start = stop.end()
    return False


def without_broken_sentences(paragraph: str) -> str:
    """Return a paragraph without the incomplete sentence at its beginning or end.

    If the paragraph ends with a letter, a digit, a comma or dots, the text after its last complete
    sentence (at most 1,000 characters) is removed, unless that text is an address or a name after a
    dash. If it begins with a lower-case letter, the text before its second sentence is removed,
    unless its first word is one such as iPhone. A paragraph that would have no complete sentence
    left stays as it is.

        >>> without_broken_sentences("of the bank. The bridge was opened in 1881. It carried the")
        'The bridge was opened in 1881.'
    """
    end = paragraph[-MAX_END_CHARS:]
    is_open = bool(_OPEN_END.search(end)) and not _NOTED_END.search(end)
    is_continued = paragraph[:1].islower() and not paragraph[1:2].isupper()  # not "iPhone"
    if not is_open and not is_continued:
        return paragraph
    first, last = 0, len(paragraph)
    if is_continued:
        first = next((stop.end() for stop in _sentence_stops(paragraph)), 0)
    if is_open:
        tail = max(first, last - MAX_TAIL_CHARS)
        ends = [stop.end() for stop in _sentence_stops(paragraph, tail)]
        if ends and not _SIGNATURE.match(paragraph, ends[-1]):
            last = ends[-1]
    rest = paragraph[first:last].strip()
    return rest if has_sentence(rest) else paragraph


def split_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph, the last of which may be incomplete.

    >>> split_sentences("It was built by Mr. Penrose. Who designed it? The Tavin")
    ['It was built by Mr. Penrose.', 'Who designed it?', 'The Tavin']
    """
    ends = [stop.end() for stop in _sentence_stops(paragraph)]
    bounds = pairwise([0, *ends, len(paragraph)])
    return [part for start, end in bounds if (part := paragraph[start:end].strip())]


def _sentence_stops(paragraph: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the stops behind `start` that close a sentence, with the marks that close it."""
    for stop in _STOP.finditer(paragraph, start):
        if stop[0] in _FULL_STOPS:
            yield stop
            continue
        end = stop.start()
        before = paragraph[max(start, end - MAX_WORD_CHARS) : end].rstrip(_CLOSERS)
        if not before or not _IN_WORD.match(before[-1]):
            continue
        if _ends_sentence(paragraph, stop, before.rsplit(None, 1)[-1]):
            yield stop
            start = stop.end()


def _ends_sentence(paragraph: str, stop: re.Match[str], word: str) -> bool:
    """Whether a stop behind `word` closes a sentence."""
    mark = stop[0][0]
    after = _BETWEEN.match(paragraph, stop.end())
    end = after.end() if after else stop.end()
    is_last = end == len(paragraph)
    bare = word.strip("\"'“‘„«([¿¡—–").lower()
    if is_last:
        return mark != "…" and (mark != "." or bare not in _NEVER_LAST)
    following = paragraph[end]
    if following.islower() or not following.isalnum():
        return False
    is_number = following.isdigit() and mark == "."
    return mark != "." or not (
        bare in _ABBREVIATIONS or _INITIALS.fullmatch(bare) or (is_number and len(bare) < 3)
    )
