"""Texts as they may be shown to a judge or in a report."""

import unicodedata

_KEPT = "\n\t"
# Cc: controls; Cs: surrogates, which UTF-8 cannot encode; the rest reverses or hides text
_HIDDEN = frozenset(
    "\u200e\u200f\u061c\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def clean(text: str) -> str:
    """Return a text without control characters and marks of direction; line ends become \\n."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        c
        for c in text
        if c in _KEPT or (unicodedata.category(c) not in ("Cc", "Cs") and c not in _HIDDEN)
    )
