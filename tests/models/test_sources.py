import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.settings.run import SourceSettings
from wikisum.models.sources import (
    FLAT,
    HIERARCHICAL,
    Examples,
    SourceForm,
    flat_source,
    hierarchical_source,
)
from wikisum.ranker.data.ragged import ragged

IDS = st.lists(st.integers(6, 90), max_size=9)
END, T, P = 3, 4, 5


def plain(source):
    return [ids.tolist() for ids in source]


def arrays(*lists):
    return [np.array(ids, np.uint16) for ids in lists]


def test_the_title_stands_before_the_first_paragraph():
    title, *paragraphs = arrays([10, 11], [20, 21, 22], [30], [40, 41])
    settings = SourceSettings(max_paragraphs=2, paragraph_tokens=2)
    assert plain(hierarchical_source(title, paragraphs, settings)) == [[10, 11, T, 20, 21], [30]]
    assert plain(flat_source(title, paragraphs, settings)) == [
        [10, 11, T, 20, 21, 22, P, 30, P, 40, 41, P, END]
    ]


def test_the_whole_is_cut():
    title, *paragraphs = arrays([10], [20, 21], [30, 31])
    assert plain(hierarchical_source(title, paragraphs, SourceSettings(source_tokens=5))) == [
        [10, T, 20, 21], [30],
    ]  # fmt: skip
    assert plain(flat_source(title, paragraphs, SourceSettings(source_tokens=4))) == [
        [10, T, 20, END]
    ]
    (long,) = arrays([10, 11, 12, 13])
    cut = SourceSettings(source_tokens=3)
    assert plain(hierarchical_source(long, paragraphs, cut)) == [[10, 11, T]]
    assert plain(flat_source(long, paragraphs, cut)) == [[10, 11, END]]


@pytest.mark.slow
@given(
    st.lists(st.tuples(IDS, st.lists(IDS, max_size=5)), min_size=1, max_size=4),
    st.builds(SourceSettings, *[st.integers(1, n) for n in (4, 6, 30)], st.just(9)),
    st.sampled_from([HIERARCHICAL, FLAT]),
)
def test_lengths_are_those_of_the_sources(rows, settings, form):
    titles, paragraphs = zip(*rows, strict=True)
    numbers = np.array([len(p) for p in paragraphs])
    flat = ragged([ids for lists in paragraphs for ids in lists])
    examples = Examples(ragged(titles), ragged(titles), flat, np.cumsum(numbers) - numbers, numbers)
    read = form.trim(examples, settings)
    sources, read_sources = (
        [form.read(es.title(e), es.paragraphs_of(e), settings) for e in range(len(rows))]
        for es in (examples, read)
    )
    assert list(map(plain, sources)) == list(map(plain, read_sources))
    assert [sum(map(len, s)) for s in sources] == form.lengths(examples, settings).tolist()
    by_reading = SourceForm(form.read).lengths(examples, settings)
    assert by_reading.tolist() == form.lengths(examples, settings).tolist()
    assert all(len(ids) for source in sources for ids in source)
    if form is HIERARCHICAL:
        assert all(len(source) <= settings.max_paragraphs for source in sources)


def test_no_more_is_kept_than_is_read():
    paragraphs = [[7] * 10 for _ in range(50)]
    examples = Examples(
        ragged([[1], [2]]),
        ragged([[], []]),
        ragged(paragraphs * 2),
        np.array([0, 50]),
        np.array([50, 50]),
    )
    settings = SourceSettings(max_paragraphs=30, paragraph_tokens=4, source_tokens=22)
    assert HIERARCHICAL.trim(examples, settings).paragraphs.lengths.tolist() == [4] * 12
    assert FLAT.trim(examples, settings).paragraphs.lengths.tolist() == [10] * 6
    assert len(HIERARCHICAL.trim(examples, settings).paragraphs.ids) == 48


def test_tokens_of_a_flat_source_know_their_paragraphs():
    ids = np.array([10, T, 20, 21, P, 30, P, END, 11, T, 22, P, 31, END])
    position = np.array([*range(8), *range(6)])
    found = FLAT.paragraphs(ids, position, np.zeros(14, np.int64))
    assert found.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1]
