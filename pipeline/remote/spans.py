"""Bytes of many files, neighbors in one request, read ahead and given back in order."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.index.ranges import Span, SpanGroup, join_spans
from wikisum.pipeline.remote.access import Remote
from wikisum.pipeline.remote.read_ahead import read_ahead

MAX_GAP_BYTES = 256 << 10  # a request costs a polite client more time than so many bytes
MAX_RANGE_BYTES = 4 << 20

T = TypeVar("T")


def read_spans(
    remote: Remote,
    connections: int,
    items: Iterable[T],
    span_of: Callable[[T], Span],
    max_item_bytes: int,
) -> Iterator[tuple[T, bytes | BadAnswer]]:
    """Each item with its bytes, or the reason why there are none, in order.

    The items of a file come together, sorted by offset; items larger than `max_item_bytes` are not
    read. At most `connections` ranges are being read, and as many wait to be taken.
    """

    def read(joined: SpanGroup[T]) -> list[bytes | BadAnswer]:
        spans = [span_of(item) for item in joined.items]
        return _read(remote, joined.span, spans, max_item_bytes)

    ranges = join_spans(items, span_of, MAX_GAP_BYTES, MAX_RANGE_BYTES)
    for joined, pieces in read_ahead(read, ranges, connections):
        yield from zip(joined.items, pieces, strict=True)


def _read(
    remote: Remote, whole: Span, spans: list[Span], max_bytes: int
) -> list[bytes | BadAnswer]:
    """The bytes of each span of a range; each is asked for alone if one spoils the whole."""
    data = _read_one(remote, whole, max(max_bytes, MAX_RANGE_BYTES))
    if isinstance(data, bytes):
        pieces = (data[s.offset - whole.offset : s.end - whole.offset] for s in spans)
        return [p if len(p) <= max_bytes else _too_large(len(p)) for p in pieces]
    if data.is_transient or len(spans) == 1:
        return [data] * len(spans)
    return [_read_one(remote, span, max_bytes) for span in spans]


def _read_one(remote: Remote, span: Span, max_bytes: int) -> bytes | BadAnswer:
    if span.length > max_bytes:
        return _too_large(span.length)
    try:
        return remote.read(span.file, span.offset, span.length)
    except BadAnswer as error:
        return error


def _too_large(length: int) -> BadAnswer:
    return BadAnswer("page_too_large", f"its record has {length} bytes")
