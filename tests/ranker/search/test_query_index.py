import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.ranker.search.clone_sketch import section_sketches
from wikisum.ranker.search.phrases import WordHashes, prefix_hashes, search_terms
from wikisum.ranker.search.query_index import PartBuilder, QueryIndex, merge, ranges

WORDS = WordHashes()
LONG = " ".join(f"word{n}" for n in range(200))
OTHER = " ".join(f"other{n}" for n in range(200))


def phrase_hash(text):
    return prefix_hashes(WORDS[term] for term in text.split())[-1]


def merged(*parts):
    """The index of parts, each a list of (title, queries, section texts)."""
    builders = []
    for titles in parts:
        builders.append(PartBuilder(WORDS))
        for title in titles:
            builders[-1].add(*title)
    return merge([builder.part() for builder in builders])


def terms_of(index, query):
    numbers = index.term_numbers[index.term_starts[query] : index.term_starts[query + 1]]
    return index.vocabulary[numbers].tolist()


def sketches_of(index, query):
    """The sketches of the sections of a query's article."""
    article = index.articles[query]
    sections = range(index.section_starts[article], index.section_starts[article + 1])
    return [index.pairs[index.pair_starts[s] : index.pair_starts[s + 1]].tolist() for s in sections]


def expected_sketches(*texts):
    return [s.tolist() for s in section_sketches(WORDS.of(search_terms(t)) for t in texts)]


def test_a_part_by_hand():
    builder = PartBuilder(WORDS)
    assert builder.add("Tavin Bridge", [(7, "tavin iron"), (8, "")], [])
    assert builder.add("Tavin", [(3, "tavin tavin")], [])
    part = builder.part()
    assert part.numbers.tolist() == [7, 8, 3]
    bridge, tavin = phrase_hash("tavin bridge"), phrase_hash("tavin")
    assert part.phrases.tolist() == [bridge, bridge, tavin]
    assert part.prefixes.tolist() == [tavin, bridge, tavin]
    assert part.term_counts.tolist() == [3, 2, 1]
    words = [["tavin", "bridge", "iron"], ["tavin", "bridge"], ["tavin"]]
    assert part.terms.tolist() == [h for some in words for h in sorted(WORDS[w] for w in some)]
    assert part.articles.tolist() == [0, 0, 1]
    assert part.section_counts.tolist() == [0, 0]
    assert part.pair_counts.tolist() == part.pairs.tolist() == []
    assert [array.dtype for array in part] == [
        np.int64, np.uint64, np.uint64, np.int32, np.uint64, np.int32, np.int32, np.int32,
        np.uint32,
    ]  # fmt: skip


def test_a_title_without_letters_is_left_out():
    builder = PartBuilder(WORDS)
    assert not builder.add("?!", [(1, "what")], [LONG])
    assert all(len(array) == 0 for array in builder.part())


def test_queries_are_sorted_by_phrase_then_number():
    queries = [(4, "a"), (2, "b"), (9, "c")]
    index = merged([("One", queries, []), ("Two", [(1, "")], [])])
    hashes = sorted([phrase_hash("one"), phrase_hash("two")])
    assert index.phrases.tolist() == hashes
    groups = [
        index.numbers[start:end].tolist()
        for start, end in zip(index.query_starts, index.query_starts[1:], strict=False)
    ]
    by_hash = {phrase_hash("one"): [2, 4, 9], phrase_hash("two"): [1]}
    assert groups == [by_hash[h] for h in hashes]


def test_titles_with_one_phrase_share_it_and_keep_their_articles():
    titles = [("Mercury (planet)", [(5, "planet")], [LONG]), ("Mercury", [(1, "metal")], [OTHER])]
    index = merged(titles)
    assert index.phrases.tolist() == [phrase_hash("mercury")]
    assert index.query_starts.tolist() == [0, 2]
    assert index.numbers.tolist() == [1, 5]
    assert index.articles.tolist() == [1, 0]
    assert [sketches_of(index, q) for q in (0, 1)] == [
        expected_sketches(OTHER), expected_sketches(LONG),
    ]  # fmt: skip
    assert terms_of(index, 0) == sorted(WORDS[w] for w in ("mercury", "metal"))
    assert terms_of(index, 1) == sorted(WORDS[w] for w in ("mercury", "planet"))


def test_an_index_by_hand_has_the_documented_arrays():
    index = merged([("One", [(4, "one")], [LONG, OTHER])], [("Two", [(1, "")], [])])
    assert index.section_starts.tolist() == [0, 2, 2]
    one, other = expected_sketches(LONG, OTHER)
    assert index.pair_starts.tolist() == [0, len(one), len(one) + len(other)]
    assert index.pairs.tolist() == one + other
    assert index.vocabulary.tolist() == sorted([WORDS["one"], WORDS["two"]])
    assert index.term_starts.tolist() == [0, 1, 2]
    assert index.size_bytes == sum(array.nbytes for array in index)
    for name in ("articles", "term_numbers"):
        assert getattr(index, name).dtype == np.int32


def test_without_queries_there_is_no_index():
    with pytest.raises(ValueError, match="no phrase"):
        merge([PartBuilder(WORDS).part()])


TITLES = st.lists(
    st.tuples(
        st.sampled_from(["Tavin", "Tavin Bridge", "Bridge", "Mercury (planet)", "Mercury", "..."]),
        st.lists(st.sampled_from(["iron", "iron bridge", "", "green"]), max_size=3),
        st.lists(st.sampled_from([LONG, OTHER, "short"]), max_size=2),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(TITLES, st.integers(1, 3))
def test_parts_together_are_as_one(titles, parts):
    titles = [("First", ["x"], []), *titles]
    numbered, number = [], 0
    for title, queries, texts in titles:
        numbered.append((title, [(number + i, q) for i, q in enumerate(queries)], texts))
        number += len(queries)
    size = -(-len(numbered) // parts)
    whole = merged(numbered)
    some = merged(*(numbered[i : i + size] for i in range(0, len(numbered), size)))
    for name, one, other in zip(QueryIndex._fields, whole, some, strict=True):
        assert one.tolist() == other.tolist(), name


def test_every_phrase_is_found_in_a_page():
    titles = ["Tavin Bridge", "Bridge of Sighs", "Sighs"]
    index = merged([(title, [(n, "")], []) for n, title in enumerate(titles)])
    page = WORDS.of(search_terms("the tavin bridge of sighs"))
    starts, numbers = index.phrase_index.find(page)
    found = {
        (s, index.numbers[index.query_starts[n]]) for s, n in zip(starts, numbers, strict=True)
    }
    assert found == {(1, 0), (2, 1), (4, 2)}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_ranges_are_those_of_python(pairs):
    starts = np.array([start for start, _ in pairs], np.int64)
    sizes = np.array([size for _, size in pairs], np.int64)
    expected = [i for start, size in pairs for i in range(start, start + size)]
    assert ranges(starts, starts + sizes).tolist() == expected
