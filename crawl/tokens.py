"""Split text into terms: one definition for ranking, clone detection and graphs."""

import re
import unicodedata

_TERM = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order: runs of letters and digits, in NFKC and lower case."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _TERM.findall(text.lower())
