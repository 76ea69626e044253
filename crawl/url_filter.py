"""A set of 64-bit URL keys, of fixed size, that all processes of a machine can share.

The first bits of a key name its bucket; the 32 bits after them are kept, sorted, in the bucket.
That is about 4.1 bytes per key, in one block of 32-bit words that can be mapped from a file:

    32 bits of each key, bucket by bucket | start of each bucket, and the end | bucket bits

A key that is not in the set is taken for a member with a probability of about 64 in 2**32.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

KEYS_PER_BUCKET = 64
MAX_KEYS = (1 << 32) - 1
_KEPT = (1 << 32) - 1

Words = npt.NDArray[np.uint32]


class UrlFilter:
    """The set in a block of native 32-bit words, as `filter_words` yields them.

    Raises ValueError if the block has another form.
    """

    def __init__(self, words: "memoryview[int]") -> None:
        bits = words[-1] if len(words) else 33
        count = len(words) - (1 << bits) - 2 if bits <= 32 else -1
        if count < 0 or words[-2] != count:
            raise ValueError(f"not a URL filter: {len(words)} words do not fit together")
        self._shift = 64 - bits
        self._kept_shift = 32 - bits
        self._kept = words
        self._starts = words[count:]
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: int) -> bool:
        bucket = key >> self._shift
        kept = (key >> self._kept_shift) & _KEPT
        end = self._starts[bucket + 1]
        index = bisect_left(self._kept, kept, self._starts[bucket], end)
        return index < end and self._kept[index] == kept


def bucket_bits(key_count: int) -> int:
    """Return how many leading bits select a bucket, so that it holds 32 to 64 keys on average."""
    return max(0, (key_count - 1) // KEYS_PER_BUCKET).bit_length()


def filter_words(blocks: Iterable[npt.NDArray[np.uint64]], key_count: int) -> Iterator[Words]:
    """Yield the words of a filter of `key_count` keys, given in ascending order, in blocks.

    Holds a block and one word per bucket in memory. Raises ValueError for too many keys, keys out
    of order, or a number of keys other than `key_count`.
    """
    if not 0 <= key_count <= MAX_KEYS:
        raise ValueError(f"a URL filter holds at most {MAX_KEYS} keys, not {key_count}")
    bits = bucket_bits(key_count)
    sizes = np.zeros(1 << bits, np.int64)
    last, found = -1, 0
    for keys in blocks:
        if len(keys) == 0:
            continue
        if int(keys[0]) <= last or not bool((keys[1:] > keys[:-1]).all()):
            raise ValueError("the keys of a URL filter must be ascending")
        last, found = int(keys[-1]), found + len(keys)
        buckets = _shifted(keys, 64 - bits).astype(np.int64)
        sizes += np.bincount(buckets, minlength=1 << bits)
        yield _shifted(keys, 32 - bits).astype(np.uint32)  # the higher bits fall away
    if found != key_count:
        raise ValueError(f"{found} keys for a URL filter of {key_count}")
    starts = np.zeros((1 << bits) + 1, np.uint32)
    starts[1:] = np.cumsum(sizes)
    yield starts
    yield np.array([bits], np.uint32)


def _shifted(keys: npt.NDArray[np.uint64], bits: int) -> npt.NDArray[Any]:
    """Shift the keys right by `bits`; numpy cannot shift by 64."""
    return keys >> np.uint64(bits) if bits < 64 else np.zeros_like(keys)
