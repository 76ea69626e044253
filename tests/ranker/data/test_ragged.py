import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.data.ragged import (
    concatenated,
    cut,
    from_arrow,
    gathered,
    padded,
    ragged,
)

LISTS = st.lists(st.lists(st.integers(0, 65_535), max_size=6), max_size=12)


def lists_of(found):
    return [found.ids[s : s + n].tolist() for s, n in zip(found.starts, found.lengths, strict=True)]


@pytest.mark.slow
@given(LISTS, LISTS, st.integers(0, 4))
def test_lists_are_kept_joined_and_cut(one, other, most):
    column = pa.chunked_array([pa.array([[1], *one], pa.list_(pa.uint16()))]).combine_chunks()
    assert lists_of(from_arrow(column.slice(1))) == one
    both = concatenated([ragged(one), from_arrow(pa.array(other, pa.list_(pa.uint16())))])
    assert lists_of(both) == one + other
    assert lists_of(cut(both, most)) == [ids[:most] for ids in one + other]


@pytest.mark.slow
@given(LISTS.filter(any), st.data())
def test_padded_rows_hold_their_ids_and_then_zeros(lists, data):
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=1))
    ids, lengths = padded(ragged(lists), np.array(rows))
    assert lengths.tolist() == [len(lists[i]) for i in rows]
    width = max(1, *lengths.tolist())
    assert ids.tolist() == [lists[i] + [0] * (width - len(lists[i])) for i in rows]


@pytest.mark.slow
@given(LISTS.filter(any), st.data())
def test_gathered_rows_leave_no_gaps(lists, data):
    rows = data.draw(st.lists(st.integers(0, len(lists) - 1)))
    found = gathered(cut(ragged(lists), 3), np.array(rows, dtype=np.int64))
    assert lists_of(found) == [lists[i][:3] for i in rows]
    assert len(found.ids) == found.lengths.sum()


def test_rows_without_ids_are_one_token_wide():
    ids, lengths = padded(ragged([[], []]), np.array([0, 1]))
    assert ids.tolist() == [[0], [0]]
    assert lengths.tolist() == [0, 0]


def test_ids_over_16_bits_are_refused():
    with pytest.raises(OverflowError):
        ragged([[1 << 16]])
