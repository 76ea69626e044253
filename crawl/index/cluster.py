"""Which blocks of a ZipNum index may hold some URLs: cluster.idx, searched through ranged reads.

A block holds the keys from its own first key to the first key of the next block, both included: a
page's captures may begin in one block and run on into the next. So the one block that begins with
a key is never the first to be read for it; it is the block before.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from wikisum.crawl.errors import BadLine
from wikisum.crawl.index.cdx import Block, parse_block

Read = Callable[[int, int], bytes]  # (offset, length) -> bytes, fewer only at the end of the file

PROBE_BYTES = 4096
SEARCH_BYTES = 1 << 18  # a search ends, and reading on begins, when so little is left
STREAM_BYTES = 4 << 20
MAX_LINE_BYTES = 1 << 16
MIN_BYTES_PER_SEARCH = 16 << 20  # a search costs a dozen small reads; reading this much, four


class Keyed(Protocol):
    """What is looked up by its key."""

    @property
    def surt(self) -> str: ...


K = TypeVar("K", bound=Keyed)


class BlockLookup(NamedTuple, Generic[K]):
    """A block and what may be in it, in order."""

    block: Block
    keys: list[K]


def first_line(read: Read, size: int, place: int) -> tuple[int, bytes]:
    """The first line that begins at `place` or after it, and where; (`size`, nothing) for none.

    Raises BadLine if no line ends for long.
    """
    start = max(place - 1, 0)  # a line begins at `place` if the byte before it ends one
    data = b""
    while start + len(data) < size and len(data) < MAX_LINE_BYTES:
        more = read(start + len(data), PROBE_BYTES)
        if not more:
            break
        data += more
        begin = data.find(b"\n") + 1 if place > 0 else 0
        end = data.find(b"\n", begin)
        if (begin or place <= 0) and end >= 0:
            return start + begin, data[begin:end]
    if len(data) >= MAX_LINE_BYTES:
        raise BadLine("bad_index", f"a line of over {MAX_LINE_BYTES} bytes", start)
    begin = data.find(b"\n") + 1 if place > 0 else 0
    if (begin or place <= 0) and data[begin:]:
        return start + begin, data[begin:]
    return size, b""


class Slice(NamedTuple):
    """The lines of cluster.idx that begin in [start, end), and the keys that their blocks may hold.

    These are `low` to `high`, both included; `high` is None where there is no end.
    """

    start: int
    end: int
    low: str
    high: str | None


def slice_of(read: Read, size: int, index: int, count: int) -> Slice:
    """Part `index` of `count` of a cluster.idx. Each line belongs to one part; some may be empty.

    Raises BadLine for a cluster.idx that is none.
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
    """Where a line begins that is not after the last one with a key under `surt`, and near it.

    That is `start` if there is none. `start` and `end` are beginnings of lines.
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
    """(where its line begins, block) from the line at `start` on, and None at the file's end.

    Reads a little at first, then more and more at once, and little again after `end`.
    """
    place, rest, step = start, b"", first_bytes
    while place < size:
        data = read(place, min(step, max(end - place, PROBE_BYTES), size - place))
        if not data:
            break
        line_place = place - len(rest)
        place += len(data)
        lines = (rest + data).split(b"\n")
        rest = lines.pop()
        if len(rest) > MAX_LINE_BYTES:
            raise BadLine("bad_index", f"a line of over {MAX_LINE_BYTES} bytes", line_place)
        for line in lines:
            if line:
                yield line_place, parse_block(line)
            line_place += len(line) + 1
        step = min(2 * step, STREAM_BYTES)
    if rest:
        yield size - len(rest), parse_block(rest)
    yield None


def needed_blocks(
    read: Read, start: int, end: int, size: int, keys: Iterable[K], key_count: int
) -> Iterator[BlockLookup[K]]:
    """The blocks whose lines begin in [start, end) that may hold some of the keys, each once.

    `keys` are sorted; those that no block here can hold are passed over. Where there are few
    (`key_count`, about), each is searched for; else cluster.idx is read through.
    Raises BadLine for a cluster.idx that is none, and what `read` raises.
    """
    is_sparse = end - start > key_count * MIN_BYTES_PER_SEARCH
    coming = iter(keys)
    key = next(coming, None)
    here: deque[K] = deque()
    place = start
    while place < end and key is not None:
        if is_sparse:
            place = search(read, place, end, size, key.surt)
        steps = _blocks(read, place, end, size, SEARCH_BYTES if is_sparse else STREAM_BYTES)
        place, passed = end, False
        for now, after in pairwise(steps):
            if now is None or now[0] >= end:
                break
            block, last = now[1], after[1].surt if after else None
            while key is not None and (last is None or key.surt <= last):
                if key.surt >= block.surt:
                    here.append(key)
                key, passed = next(coming, None), True
            if here:
                yield BlockLookup(block, list(here))
            while here and here[0].surt != last:
                here.popleft()
            if not here and (key is None or (is_sparse and passed)):
                place = after[0] if after else end
                break
