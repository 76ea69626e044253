"""Join neighboring records of a file into ranges, so that one request reads several."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Span(NamedTuple):
    """Bytes [offset, offset + length) of a file."""

    file: str
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


class SpanGroup(NamedTuple, Generic[T]):
    """One range to request, and the items that lie in it, in order."""

    span: Span
    items: list[T]


def join_spans(
    items: Iterable[T], span_of: Callable[[T], Span], max_gap_bytes: int, max_bytes: int
) -> Iterator[SpanGroup[T]]:
    """Yield ranges of items that are at most `max_gap_bytes` apart.

    The items of a file must come together, sorted by offset; they may overlap. A range is longer
    than `max_bytes` only if a single item is. Raises ValueError for items out of order.
    """
    held: list[T] = []
    whole: Span | None = None
    for item in items:
        span = span_of(item)
        if whole is not None and span.file == whole.file:
            if span.offset < span_of(held[-1]).offset:
                raise ValueError(f"{span} comes after {span_of(held[-1])}")
            end = max(whole.end, span.end)
            is_near = span.offset <= whole.end + max_gap_bytes
            if is_near and (end - whole.offset <= max_bytes or end == whole.end):
                whole = whole._replace(length=end - whole.offset)
                held.append(item)
                continue
        if whole is not None:
            yield SpanGroup(whole, held)
        whole, held = span, [item]
    if whole is not None:
        yield SpanGroup(whole, held)
