import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.configs import SourceSettings
from models.sources import Examples, flat_source, hierarchical_source, source_lengths, source_of
from ranker.ragged import ragged

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


@given(
    st.lists(st.tuples(IDS, st.lists(IDS, max_size=5)), min_size=1, max_size=4),
    st.builds(SourceSettings, *[st.integers(1, n) for n in (4, 6, 30)], st.just(9)),
    st.sampled_from(["ht", "ft"]),
)
def test_lengths_are_those_of_the_sources(rows, settings, model):
    titles, paragraphs = zip(*rows, strict=True)
    numbers = np.array([len(p) for p in paragraphs])
    flat = ragged([ids for lists in paragraphs for ids in lists])
    examples = Examples(ragged(titles), ragged(titles), flat, np.cumsum(numbers) - numbers, numbers)
    sources = [
        source_of(examples.title(e), examples.paragraphs_of(e, 9), model, settings)
        for e in range(len(rows))
    ]
    assert [sum(map(len, s)) for s in sources] == source_lengths(examples, model, settings).tolist()
    assert all(len(ids) for source in sources for ids in source)
    if model == "ht":
        assert all(len(source) <= settings.max_paragraphs for source in sources)
