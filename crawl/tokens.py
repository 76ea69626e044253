"""Text to words: one definition of a term for ranking, clone detection and graphs."""

import re
import unicodedata

_TERM = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """The words of `text` in order: NFKC, lower-cased, runs of letters and digits of any script."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _TERM.findall(text.lower())
