import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.index.ranges import Span, join_spans


def joined(spans: list[Span], gap: int = 10, most: int = 100) -> list[tuple[str, int, int, int]]:
    ranges = join_spans(spans, lambda span: span, gap, most)
    return [(*whole, len(items)) for whole, items in ranges]


def test_neighbors_share_a_range():
    spans = [Span("a", 0, 20), Span("a", 20, 5), Span("a", 35, 5), Span("a", 51, 5)]
    assert joined(spans) == [("a", 0, 40, 3), ("a", 51, 5, 1)]


def test_files_do_not():
    assert joined([Span("a", 0, 20), Span("b", 20, 5)]) == [("a", 0, 20, 1), ("b", 20, 5, 1)]


def test_a_range_ends_before_it_is_too_large():
    spans = [Span("a", 0, 60), Span("a", 60, 40), Span("a", 100, 1), Span("a", 101, 500)]
    assert joined(spans) == [("a", 0, 100, 2), ("a", 100, 1, 1), ("a", 101, 500, 1)]


def test_the_same_bytes_are_read_once():
    spans = [Span("a", 0, 500), Span("a", 0, 500), Span("a", 100, 50)]
    assert joined(spans) == [("a", 0, 500, 3)]


def test_out_of_order_is_an_error():
    with pytest.raises(ValueError, match="comes after"):
        joined([Span("a", 20, 5), Span("a", 0, 5)])


SPANS = st.lists(
    st.builds(Span, st.sampled_from("ab"), st.integers(0, 400), st.integers(1, 60)), max_size=30
).map(sorted)


@pytest.mark.slow
@given(SPANS)
def test_every_item_lies_in_its_range_in_order(spans):
    ranges = list(join_spans(spans, lambda span: span, 10, 100))
    assert [item for _, items in ranges for item in items] == spans
    for whole, items in ranges:
        assert all(i.file == whole.file for i in items)
        assert whole.offset == items[0].offset
        assert whole.end == max(i.end for i in items)
        assert whole.length <= 100
        for before, item in itertools.pairwise(items):
            reached = max(i.end for i in items[: items.index(before) + 1])
            assert item.offset <= reached + 10
