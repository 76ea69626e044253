"""Find the blocks of a ZipNum index that may hold given keys, by ranged reads of cluster.idx.

A block holds the keys from its own first key to the first key of the next block, both included: the
captures of a page may begin in one block and continue in the next. So the search for a key starts
with the block before the first one that begins with it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from wikisum.crawl.errors import BadLine
from wikisum.crawl.index.cdx import Block, parse_block

Read = Callable[[int, int], bytes]  # (offset, length) -> bytes, fewer only at the end of the file

PROBE_BYTES = 4096
SEARCH_BYTES = 1 << 18  # a binary search ends, and reading begins, when so little is left
STREAM_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 16
MIN_BYTES_PER_SEARCH = 16 << 20  # a search costs a dozen small reads; reading this much, four


class Keyed(Protocol):
    """Anything that is looked up by its key."""

    @property
    def surt(self) -> str: ...


K = TypeVar("K", bound=Keyed)


class BlockLookup(NamedTuple, Generic[K]):
    """A block and the keys that it may hold, in order."""

    block: Block
    keys: list[K]


def first_line(read: Read, size: int, offset: int) -> tuple[int, bytes]:
    """Return the first line that begins at or after `offset`, as (its offset, line).

    Return (`size`, empty) if there is none. Raises BadLine for a line of over MAX_LINE_BYTES.
    """
    start = max(offset - 1, 0)  # a line begins at `offset` if the byte before it ends one
    data = b""
    while start + len(data) < size and len(data) < MAX_LINE_BYTES:
        more = read(start + len(data), PROBE_BYTES)
        if not more:
            break
        data += more
        begin = data.find(b"\n") + 1 if offset > 0 else 0
        end = data.find(b"\n", begin)
        if (begin or offset <= 0) and end >= 0:
            return start + begin, data[begin:end]
    if len(data) >= MAX_LINE_BYTES:
        raise BadLine("bad_index", f"a line of over {MAX_LINE_BYTES} bytes", start)
    begin = data.find(b"\n") + 1 if offset > 0 else 0
    if (begin or offset <= 0) and data[begin:]:
        return start + begin, data[begin:]
    return size, b""


class Slice(NamedTuple):
    """The lines of cluster.idx that begin in [start, end), and the keys that their blocks may hold.

    The keys are `low` to `high`, both included; `high` is None for the last slice.
    """

    start: int
    end: int
    low: str
    high: str | None


def slice_of(read: Read, size: int, index: int, count: int) -> Slice:
    """Return part `index` of `count` of a cluster.idx. Each line belongs to exactly one part.

    Parts may be empty. Raises BadLine if a line cannot be parsed.
    """
    start, low, end, high = 0, "", size, None
    if index > 0:
        start, line = first_line(read, size, size * index // count)
        low = parse_block(line).surt if line else ""
    if index + 1 < count:
        end, line = first_line(read, size, size * (index + 1) // count)
        high = parse_block(line).surt if line else None
    return Slice(start, end, low, high)


def search(read: Read, start: int, end: int, size: int, surt: str) -> int:
    """Return the offset of a line at or shortly before the last line with a key below `surt`.

    Return `start` if there is none. `start` and `end` must be offsets of lines.
    """
    while end - start > SEARCH_BYTES:
        middle, line = first_line(read, size, (start + end) // 2)
        if middle >= end:
            break
        if parse_block(line).surt < surt:
            start = middle
        else:
            end = middle
    return start


def _blocks(
    read: Read, start: int, end: int, size: int, first_bytes: int
) -> Iterator[tuple[int, Block] | None]:
    """Yield (offset of its line, block) from the line at `start` on, and None at the file's end.

    The first read is of `first_bytes`, each further one of twice as much, up to STREAM_BYTES.
    Beyond `end`, where only the first key is of interest, reads are small again.
    """
    position, rest, step = start, b"", first_bytes
    while position < size:
        data = read(position, min(step, max(end - position, PROBE_BYTES), size - position))
        if not data:
            break
        line_offset = position - len(rest)
        position += len(data)
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        if len(rest) > MAX_LINE_BYTES:
            raise BadLine("bad_index", f"a line of over {MAX_LINE_BYTES} bytes", line_offset)
        for line in lines:
            if line:
                yield line_offset, parse_block(line)
            line_offset += len(line) + 1
        step = min(2 * step, STREAM_BYTES)
    if rest:
        yield size - len(rest), parse_block(rest)
    yield None


def needed_blocks(
    read: Read, start: int, end: int, size: int, keys: Iterable[K], key_count: int
) -> Iterator[BlockLookup[K]]:
    """Yield the blocks whose lines begin in [start, end) that may hold some of the keys.

    Each block comes once. `keys` must be sorted; those that no block here can hold are skipped. If
    they are few (`key_count`, an estimate), each is searched for; otherwise cluster.idx is read
    from start to end. Raises BadLine if a line cannot be parsed, and what `read` raises.
    """
    # Blocks and keys are merged, both in the order of keys. `key` is the next key to place, and
    # `pending` holds the keys that the current block may hold. A key that equals the first key of
    # the next block stays pending for that block too, since its captures may continue there.
    is_sparse = end - start > key_count * MIN_BYTES_PER_SEARCH
    remaining = iter(keys)
    key = next(remaining, None)
    pending: deque[K] = deque()
    position = start
    while position < end and key is not None:
        if is_sparse:
            position = search(read, position, end, size, key.surt)
        steps = _blocks(read, position, end, size, SEARCH_BYTES if is_sparse else STREAM_BYTES)
        position, has_advanced = end, False
        for current, following in pairwise(steps):
            if current is None or current[0] >= end:
                break
            block, last_surt = current[1], following[1].surt if following else None
            while key is not None and (last_surt is None or key.surt <= last_surt):
                if key.surt >= block.surt:
                    pending.append(key)
                key, has_advanced = next(remaining, None), True
            if pending:
                yield BlockLookup(block, list(pending))
            while pending and pending[0].surt != last_surt:
                pending.popleft()
            # All keys so far are placed. If the next key may be far away, search for it instead
            # of reading on; but not before one key was placed, or this would never end.
            if not pending and (key is None or (is_sparse and has_advanced)):
                position = following[0] if following else end
                break
