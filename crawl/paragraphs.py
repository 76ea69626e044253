"""Decide which paragraphs are prose worth keeping, with a reason for each that is not."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from wikisum.crawl.boilerplate import is_glued, is_notice, is_policy, is_reference
from wikisum.crawl.sentence_ends import has_sentence

MIN_WORDS = 6
MAX_WORDS = 500
MAX_GARBLED_SHARE = 0.01
_WORD = re.compile(r"\S*\w\S*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
# It begins with one set of characters, which makes the search faster.
_SENTENCE_BREAK = re.compile(
    r"[.!?…。！？｡।॥؟۔።](?:(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？｡।॥؟۔።]))"
)
_NO_LETTERS = re.sub(rb"[A-Za-z\xc0-\xff]", b"", bytes(range(256)))  # of Latin-1
MAX_BOILERPLATE_WORDS = 60
_COLONS = (":", "：")
_INTRODUCTION = re.compile(r"[^\W_a-z].*\w[\"'”’»)]*[:：]$", re.DOTALL)
_STEP = re.compile(r"(?:[Ss]tep )?\d{1,2}(?:[.):] ?| )[^\W\d_]\w*\W+\w+\W+\w")
_SHORT_SENTENCE = re.compile(r"[\"'“‘„«(¿¡]*[^\W_a-z]\w*(?:[^\w.!?]+\w+){2,}[^\w.!?]*[.!?]\W*$")
MAX_ITEMS = 30
MAX_LANGUAGE_CHARS = 600
MIN_FUNCTION_WORDS = 6
MIN_PROSE_WORDS = 40
MIN_FUNCTION_SHARE = 0.1
CLEAR_FUNCTION_WORDS = 3  # that tell the language of a line, if few of another are there
_FUNCTION_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the of and to in a is was that for on with as by at from it an be are his their",
        "de": "der die das und in den von zu mit sich des ist im für auf dem ein eine nicht war",
        "fr": "le la les de des du et à en un une dans est que pour qui par sur au il ne avec",
        "es": "el la los las de del y a en un una que es por con para su se al como fue no",
        "it": "il la le lo gli di del della e a in un una che è per con da si al dei nel sono",
        "pt": "o a os as de do da dos das e em um uma que é para com por no na se ao foi não",
        "nl": "de het een van en in is op te dat die voor met zijn aan er niet was als door",
        "pl": "w i z na do się nie to że jest o od po przez a za jak dla są był który oraz",
        "sv": "och i att det som en på är av för med den till har de inte om ett var från",
    }.items()
}


def drop_reason(paragraph: str, language: str | None = None) -> str | None:
    """Return why a paragraph is not prose for a summary, or None if it is.

    Reasons: `garbled` (replacement characters, as in binary data), `no_letters`, `too_short` (under
    6 words), `no_sentence` (no sentence ends in it; questions and exclamations count, unlike in the
    filter of the original dataset), `boilerplate` (short, and about cookies, subscriptions, rights;
    or of a privacy policy), `reference` (an entry of a bibliography), `other_language` (its script
    is not that of `language`, or its function words are those of another), `no_prose` (words
    are glued together, or it is long with hardly a function word of `language`).
    """
    if "\ufffd" in paragraph and paragraph.count("\ufffd") > len(paragraph) * MAX_GARBLED_SHARE:
        return "garbled"
    if not paragraph[:1].isalpha() and not _LETTER.search(paragraph):
        return "no_letters"
    if paragraph.isascii() and len(paragraph.split(None, MIN_WORDS)) < MIN_WORDS:
        return "too_short"  # most lines of menus end here
    word_count = _word_count(paragraph)
    if _is_spaced(paragraph):
        if word_count < MIN_WORDS:
            return "too_short"
    elif len(paragraph) < 3 * MIN_WORDS:
        return "too_short"
    if not has_sentence(paragraph):
        return "no_sentence"
    if (word_count <= MAX_BOILERPLATE_WORDS and is_notice(paragraph)) or is_policy(paragraph):
        return "boilerplate"
    if is_reference(paragraph):
        return "reference"
    if is_glued(paragraph):
        return "no_prose"
    if language is not None and not _in_language(paragraph, language):
        return "other_language"
    if word_count >= MIN_PROSE_WORDS and language in _FUNCTION_WORDS:
        return None if _has_function_words(paragraph, language) else "no_prose"
    return None


def drop_reasons(paragraphs: Sequence[str], language: str | None = None) -> list[str | None]:
    """Return for each paragraph of a page why it is dropped, or None, by its neighbors too.

    Kept beyond `drop_reason`: a paragraph that ends in a colon beside one that is kept, the items
    of the list that it introduces, numbered steps, and short sentences between kept paragraphs.
    """
    reasons = [drop_reason(paragraph, language) for paragraph in paragraphs]
    for i, paragraph in enumerate(paragraphs):
        if reasons[i] not in ("no_sentence", "too_short"):
            continue
        follows = i > 0 and reasons[i - 1] is None
        is_long = reasons[i] == "no_sentence"
        if not follows and not (is_long and paragraph.endswith(_COLONS)):
            continue
        precedes = i + 1 < len(paragraphs) and reasons[i + 1] is None
        belongs = (
            (is_long and _INTRODUCTION.match(paragraph) and (follows or precedes))
            or (is_long and follows and _is_item(paragraphs, reasons, i))
            or (follows and _STEP.match(paragraph))
            or (follows and precedes and _SHORT_SENTENCE.match(paragraph))
        )
        if belongs and not (is_notice(paragraph) or is_reference(paragraph)):
            reasons[i] = None
    return reasons


def _is_item(paragraphs: Sequence[str], reasons: list[str | None], index: int) -> bool:
    """Whether kept paragraphs without a sentence lead back to one that ends in a colon."""
    for i in range(index - 1, max(-1, index - 1 - MAX_ITEMS), -1):
        if reasons[i] is not None:
            return False
        if paragraphs[i].endswith(_COLONS):
            return True
        if has_sentence(paragraphs[i]):
            return False
    return False


def word_count(paragraph: str) -> int:
    """Return the number of words; three characters count as one where no spaces separate words."""
    return len(paragraph.split()) if _is_spaced(paragraph) else len(paragraph) // 3


def _has_function_words(paragraph: str, language: str) -> bool:
    """Whether a long paragraph has as many function words as prose; menus and tables have few."""
    words = paragraph.lower().split()
    return _count_in(language, words) >= MIN_FUNCTION_SHARE * len(words)


def _word_count(paragraph: str) -> int:
    """Return the number of words up to 61; a long paragraph's separate marks count too."""
    words = paragraph.split(None, MAX_BOILERPLATE_WORDS)
    if len(words) > 2 * MIN_WORDS or all([word[0].isalnum() for word in words]):
        return len(words)
    return len(_WORD.findall(paragraph))


def _is_spaced(paragraph: str) -> bool:
    """Whether spaces separate the words, unlike in Chinese, Japanese or Thai."""
    if len(paragraph.encode("latin-1", "ignore")) * 4 > len(paragraph) * 3:
        return True
    return len(_UNSPACED.findall(paragraph)) < len(paragraph) / 4


@cache
def _script(language: str) -> re.Pattern[str] | None:
    """Return a pattern of the letters that a language is written with."""
    ranges = {
        "ru uk be bg mk sr kk ky mn tg": "\u0400-\u052f",
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        "he yi": "\u0590-\u05ff",
        "ar fa ur ps ug": "\u0600-\u06ff\u0750-\u077f",
        "hi mr ne sa": "\u0900-\u097f",
        "bn as": "\u0980-\u09ff",
        "ta": "\u0b80-\u0bff",
        "th": "\u0e00-\u0e7f",
        "ka": "\u10a0-\u10ff",
        "hy": "\u0530-\u058f",
        "ko": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af\u4e00-\u9fff",
        "zh": "\u3400-\u9fff",
        "ja": "\u3040-\u30ff\u3400-\u9fff",
    }
    for languages, letters in ranges.items():
        if language in languages.split():
            return re.compile(f"[{letters}]")
    latin = "a-zA-Z\u00c0-\u024f\u1e00-\u1eff"
    return re.compile(f"[{latin}]")


def _in_language(paragraph: str, language: str) -> bool:
    """Whether the beginning may be in that language, by its script, then by function words."""
    start = paragraph[:MAX_LANGUAGE_CHARS]
    if language not in _FUNCTION_WORDS:
        return _in_script(start, language)
    if not _is_mostly_latin(start) and not _in_script(start, language):
        return False
    words = start.lower().split()
    own = _count_in(language, words)
    if own >= CLEAR_FUNCTION_WORDS and own * 6 >= len(words):
        return True
    best = max(_count_in(code, words) for code in _FUNCTION_WORDS)
    if best >= CLEAR_FUNCTION_WORDS and best > 3 * own:  # a short line of another language
        return False
    return own * 6 >= len(words) or best < MIN_FUNCTION_WORDS or own * 2 >= best


def _is_mostly_latin(text: str) -> bool:
    """A quick check that is False for some Latin text beyond Latin-1."""
    western = text.encode("latin-1", "ignore")
    return len(western.translate(None, _NO_LETTERS)) >= len(text) - len(western)


def _in_script(text: str, language: str) -> bool:
    pattern = _script(language)
    return not pattern or len(pattern.findall(text)) * 2 >= len(_LETTER.findall(text))


def _count_in(language: str, words: list[str]) -> int:
    return sum(map(_FUNCTION_WORDS[language].__contains__, words))


def split_long(paragraph: str, max_words: int = MAX_WORDS) -> list[str]:
    """Split a paragraph into pieces of at most `max_words` words, at ends of sentences.

    A longer sentence is cut between words. A page without block tags is one paragraph.
    """
    if len(paragraph) < 2 * max_words or len(paragraph.split(None, max_words)) <= max_words:
        return [paragraph]
    pieces: list[list[str]] = [[]]
    for sentence in _sentences(paragraph):
        rest = sentence.split()
        if len(pieces[-1]) + len(rest) > max_words and pieces[-1]:
            pieces.append([])
        *starts, last = range(0, max(1, len(rest)), max_words)
        for start in starts:
            pieces[-1] = rest[start : start + max_words]
            pieces.append([])
        pieces[-1] += rest[last:]
    return [" ".join(piece) for piece in pieces if piece]


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text with their stops, without closing marks before a space."""
    start = 0
    for stop in _SENTENCE_BREAK.finditer(text):
        yield text[start : stop.start() + 1]
        start = stop.end()
    yield text[start:]
