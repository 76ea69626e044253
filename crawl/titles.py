"""Identify articles: title normalized as in MediaWiki, id, split."""

import hashlib
import html
import re
import unicodedata

SPLITS = ("train", "validation", "test")
_SPACE = re.compile(r"[\s_\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_DIRECTION = re.compile(r"[\u200e\u200f\u202a-\u202e]")


def normalize_title(title: str) -> str:
    """Return the title as MediaWiki stores it.

    It is in NFC, with spaces for underscores and a capital first letter. Entities are decoded; a
    leading colon and a `#fragment` are removed.
    """
    text = _DIRECTION.sub("", html.unescape(title)).partition("#")[0]
    text = unicodedata.normalize(
        "NFC", _SPACE.sub(" ", text).strip(" ").removeprefix(":").strip(" ")
    )
    capital = text[:1].upper()
    return (capital if len(capital) == 1 else text[:1]) + text[1:]


def article_id(title: str) -> str:
    """Return 16 hexadecimal digits that identify the normalized title."""
    return hashlib.sha256(normalize_title(title).encode("utf-8", "replace")).hexdigest()[:16]


def split_of(title: str, fractions: tuple[float, float, float] = (0.8, 0.1, 0.1)) -> str:
    """Return the split of an article, by a stable hash of its title and these fractions.

    The hash differs from that of `article_id`, which chooses the shard.
    """
    text = normalize_title(title).encode("utf-8", "replace")
    digest = hashlib.blake2b(text, digest_size=8, person=b"split").digest()
    position = int.from_bytes(digest, "big") / 2**64
    for split, fraction in zip(SPLITS[:2], fractions, strict=False):
        if position < fraction:
            return split
        position -= fraction
    return SPLITS[2]
