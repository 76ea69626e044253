"""Check digests of payloads: `sha1:BASE32`, in hexadecimal, or without the algorithm's name."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable

_SIZE_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}
_HEX = re.compile(r"[0-9a-fA-F]+", re.ASCII)


def _parse(claim: str) -> tuple[str, bytes] | None:
    """Return (algorithm, digest), or None if it is unknown. Without a name it is SHA-1."""
    name, colon, text = claim.strip().rpartition(":")
    algorithm = name.lower().replace("-", "") if colon else "sha1"
    size = _SIZE_BYTES.get(algorithm)
    if size is None:
        return None
    if len(text) == 2 * size and _HEX.fullmatch(text):
        return algorithm, bytes.fromhex(text)
    try:
        digest = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        return None
    return (algorithm, digest) if len(digest) == size else None


def is_digest_of(claim: str, contents: Iterable[bytes]) -> bool | None:
    """Whether one of the contents has the claimed digest, or None if it cannot be checked."""
    parsed = _parse(claim)
    if parsed is None:
        return None
    algorithm, digest = parsed
    return any(hashlib.new(algorithm, content).digest() == digest for content in contents)
