"""Detect the language of a page's text."""

import re

from resiliparse.parse.lang import detect_fast

from wikisum.crawl.whitespace import normalize_whitespace

MIN_CHARS = 60
MAX_CHARS = 4000
MAX_DISTANCE = 1200  # between the n-grams of text and language; over it the guess is not reliable
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_SHARE = 0.3  # Chinese and Japanese have too many characters for n-grams


def detect(text: str) -> str | None:
    """Return the ISO 639-1 code of the language, or None for text too short or too mixed.

    Only 4,000 characters in the middle are used: pages begin and end with boilerplate.
    """
    start = max(0, (len(text) - MAX_CHARS) // 2)
    text = normalize_whitespace(text[start : start + MAX_CHARS].replace("\n", " "))
    if len(text.encode(errors="replace")) > len(text) * (1 + 2 * _HAN_SHARE):  # of 3 bytes each
        kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
        if kana + han > _HAN_SHARE * len(text) and kana + han >= MIN_CHARS // 4:
            return "ja" if kana > (kana + han) / 10 else "zh"
    if len(text) < MIN_CHARS:
        return None
    language, _ = detect_fast(text, cutoff=MAX_DISTANCE)
    return str(language) if len(language) == 2 else None
