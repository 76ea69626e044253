"""Normalize white space and remove invisible characters."""

import unicodedata
from functools import cache

_VISIBLE_FORMATS = frozenset("\u200c\u200d")  # joiners, which change letters in Persian and Hindi


def normalize_whitespace(text: str) -> str:
    """Return `text` on one line, with one space between words.

    Soft hyphens, zero-width spaces, direction marks, control characters and lone surrogates are
    removed.
    """
    normalized = text.strip()
    if normalized.isprintable():  # true for most text; its only white space is the plain space
        while "  " in normalized:
            normalized = normalized.replace("  ", " ")
        return normalized
    normalized = " ".join(text.split())
    if normalized.isprintable():
        return normalized
    return " ".join("".join(c for c in normalized if _is_kept(c)).split())


def printable(text: str) -> str:
    """Return text that is safe to show on a terminal: line breaks stay, control characters go.

    Lone surrogates, which no terminal can encode, and direction marks are removed too.
    """
    if text.isprintable():
        return text
    return "".join(c for c in text if c == "\n" or _is_kept(c))


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by question marks; JSON may hold them, but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()


@cache
def _is_kept(character: str) -> bool:
    category = unicodedata.category(character)
    return category not in ("Cc", "Cs", "Cf") or character in _VISIBLE_FORMATS
