"""White space as a reader sees it: one space between words, nothing invisible."""

import unicodedata
from functools import cache

_VISIBLE_FORMATS = frozenset("\u200c\u200d")  # joiners, that change letters in Persian and Hindi


def normalize_whitespace(text: str) -> str:
    """`text` on one line, words parted by one space.

    Soft hyphens, zero-width spaces, direction marks, control characters and lone surrogates go.
    """
    folded = text.strip()
    if "  " not in folded and folded.isprintable():  # as most text is
        return folded
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return " ".join("".join(c for c in folded if _is_kept(c)).split())


def replace_surrogates(text: str) -> str:
    """`text` with question marks for lone surrogates, which JSON may hold and no file can."""
    return text.encode("utf-8", "replace").decode()


@cache
def _is_kept(character: str) -> bool:
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs", "Cf") or character in _VISIBLE_FORMATS
