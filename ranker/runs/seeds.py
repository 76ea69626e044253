"""Seeds for single batches, so that a resumed run draws as one that never stopped."""

import hashlib


def batch_seed(seed: int, number: int) -> int:
    """Return the seed of the dropout of one batch of training."""
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
