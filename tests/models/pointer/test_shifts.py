import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.pointer.shifts import (
    SHIFT,
    insert_shifts,
    sentence_similarities,
    sentence_spans,
    sentence_windows,
    window_of_span,
)
from wikisum.ranker.data.vocab import END_OF_PARAGRAPH

STOP = 6
ENDS = frozenset({STOP, END_OF_PARAGRAPH})
# windows of 8 at 6: 0..7, 6..13, 12..18; the second sentence is in the first two
SOURCE = np.array([10, 11, 12, 13, STOP, 20, 21, STOP, 30, 31, STOP, 40, 41, STOP, 50, 51, 52, 53,
                   STOP])  # fmt: skip


def ids(*tokens):
    return np.array(tokens)


def test_sentences_end_at_their_marks():
    assert sentence_spans(SOURCE, ENDS) == [(0, 5), (5, 8), (8, 11), (11, 14), (14, 19)]
    assert sentence_spans(ids(7, 8), ENDS) == [(0, 2)]
    assert sentence_spans(ids(), ENDS) == []


@pytest.mark.parametrize(
    ("span", "window"),
    [
        ((0, 5), 0),
        ((6, 8), 1),  # in windows 0 and 1: the last that holds it
        ((5, 8), 0),  # only the first holds all of it
        ((4, 10), 1),  # four of its tokens are in either: the last
        ((3, 9), 0),  # five tokens in the first, three in the second
        ((14, 19), 2),
        ((12, 14), 2),
    ],
)
def test_a_sentence_belongs_to_the_last_window_that_holds_most_of_it(span, window):
    assert window_of_span(span, len(SOURCE), 8, 6) == window


def test_similarity_is_the_cosine_of_counts_or_of_summed_vectors():
    source, lead = ids(8, 8, 9, STOP), ids(8, 9, STOP)
    spans = [(0, 4)], [(0, 3)]
    (counts,) = sentence_similarities(source, spans[0], lead, spans[1], None)
    assert counts == pytest.approx((2 + 1 + 1) / (6**0.5 * 3**0.5))
    vectors = np.zeros((10, 2), np.float32)
    vectors[8], vectors[9] = (1, 0), (0, 1)
    (summed,) = sentence_similarities(source, spans[0], lead, spans[1], vectors)
    assert summed == pytest.approx((2 + 1) / (5**0.5 * 2**0.5))
    unknown = sentence_similarities(ids(12), [(0, 1)], ids(12), [(0, 1)], vectors)
    assert unknown.tolist() == [[0.0]]  # no vector, no similarity, and no NaN


def test_shifts_are_injected_on_overlapping_windows_with_a_backward_jump():
    """Sentences from windows 1, 0 and 2: the second stays in window 1."""
    lead = ids(30, 31, STOP, 10, 12, STOP, 50, 53, STOP)
    spans = sentence_spans(lead, ENDS)
    windows = sentence_windows(SOURCE, lead, spans, 8, 6, ENDS, None)
    assert windows.tolist() == [1, 1, 2]
    once = insert_shifts(lead, spans, windows, repeat=False)
    assert once.tolist() == [30, 31, STOP, 10, 12, STOP, SHIFT, 50, 53, STOP]
    each = insert_shifts(lead, spans, windows, repeat=True)
    assert each.tolist() == [SHIFT, *once.tolist()]


def test_the_example_of_accumulated_maximums():
    """Windows 0, 2, 1, 3, 2 become 0, 2, 2, 3, 3: shifts after the first and the third."""
    lead = ids(*(t for i in range(5) for t in (10 * (i + 1), STOP)))
    spans = sentence_spans(lead, ENDS)
    windows = np.maximum.accumulate(np.array([0, 2, 1, 3, 2]))
    once = insert_shifts(lead, spans, windows, repeat=False).tolist()
    assert once == [10, STOP, SHIFT, 20, STOP, 30, STOP, SHIFT, 40, STOP, 50, STOP]
    each = insert_shifts(lead, spans, windows, repeat=True).tolist()
    assert each == [10, STOP, SHIFT, SHIFT, 20, STOP, 30, STOP, SHIFT, 40, STOP, 50, STOP]


@pytest.mark.slow
@given(st.lists(st.integers(6, 12), max_size=40), st.lists(st.integers(6, 12), min_size=1),
       st.integers(2, 9), st.booleans())  # fmt: skip
def test_shifts_only_are_added_and_never_more_than_windows(lead, source, stride, repeat):
    lead_ids, source_ids = np.array(lead, np.int64), np.array(source)
    spans = sentence_spans(lead_ids, ENDS)
    if not spans:
        return
    size = stride + 1
    windows = sentence_windows(source_ids, lead_ids, spans, size, stride, ENDS, None)
    found = insert_shifts(lead_ids, spans, windows, repeat).tolist()
    assert [token for token in found if token != SHIFT] == lead
    last = 0 if len(source) <= size else -(-(len(source) - size) // stride)
    assert found.count(SHIFT) <= last
    if repeat:
        assert found.count(SHIFT) == windows[-1]
