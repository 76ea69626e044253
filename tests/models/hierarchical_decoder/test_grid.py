import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.hierarchical_decoder.grid import GRID
from wikisum.models.settings.run import SourceSettings
from wikisum.models.sources import Examples
from wikisum.ranker.data.ragged import Ragged
from wikisum.ranker.data.vocab import END_OF_TITLE, UNKNOWN


def ids(*values):
    return np.array(values, np.uint16)


def read(title, paragraphs, **limits):
    return [p.tolist() for p in GRID.read(title, paragraphs, SourceSettings(**limits))]


def test_the_title_is_a_part_of_the_first_paragraph():
    found = read(ids(7, 8), [ids(10, 11, 12), ids(13, 14, 15, 16, 17)], paragraph_tokens=4)
    assert found == [[7, 8, END_OF_TITLE, 10], [13, 14, 15, 16]]


def test_there_are_so_many_paragraphs_at_most():
    found = read(ids(7), [ids(10)] * 5, paragraph_tokens=4, max_paragraphs=3)
    assert found == [[7, END_OF_TITLE, 10], [10], [10]]


def test_a_long_title_fills_the_first_paragraph():
    found = read(ids(7, 8, 9, 10), [ids(11), ids(12)], paragraph_tokens=3)
    assert found == [[7, 8, END_OF_TITLE], [12]]


def test_a_title_without_paragraphs_and_empty_ones():
    assert read(ids(7), []) == [[7, END_OF_TITLE]]
    assert read(ids(), [ids(), ids()]) == [[END_OF_TITLE], [UNKNOWN]]


def ragged(lists):
    lengths = np.array([len(x) for x in lists], np.int64)
    starts = np.cumsum(lengths) - lengths
    flat = np.array([i for x in lists for i in x], np.uint16)
    return Ragged(flat, starts, lengths)


texts = st.lists(st.integers(6, 50), max_size=9)


@pytest.mark.slow
@given(
    st.lists(st.tuples(texts, st.lists(texts, max_size=5)), min_size=1, max_size=4),
    st.integers(1, 6), st.integers(1, 8), st.integers(1, 20),
)  # fmt: skip
def test_counts_and_trimmed_examples_are_those_that_are_read(rows, number, size, whole):
    settings = SourceSettings(number, size, whole, 10)
    count = np.array([len(paragraphs) for _, paragraphs in rows])
    examples = Examples(
        ragged([title for title, _ in rows]), ragged([[] for _ in rows]),
        ragged([p for _, paragraphs in rows for p in paragraphs]), np.cumsum(count) - count, count,
    )  # fmt: skip
    trimmed = GRID.trim(examples, settings)
    expected = []
    for e in range(len(rows)):
        source = GRID.read(examples.title(e), examples.paragraphs_of(e), settings)
        again = GRID.read(trimmed.title(e), trimmed.paragraphs_of(e), settings)
        assert [p.tolist() for p in again] == [p.tolist() for p in source]
        assert all(0 < len(p) <= size for p in source)
        assert len(source) <= number
        expected.append(sum(map(len, source)))
    assert GRID.lengths(examples, settings).tolist() == expected
