import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.search.phrases import (
    BREAK,
    PhraseIndex,
    WordHashes,
    build_index,
    prefix_hashes,
    search_terms,
    title_phrase,
)

WORDS = WordHashes()
SENTENCES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4)


def index_of(phrases: list[list[str]]) -> tuple[PhraseIndex, dict[int, list[str]]]:
    """The index, and the phrase of each hash."""
    prefixes = [prefix_hashes(WORDS.of(p).tolist()) for p in phrases]
    own = np.array([p[-1] for p in prefixes], np.uint64)
    index = build_index(own, np.concatenate([np.array(p, np.uint64) for p in prefixes]))
    return index, {p[-1]: phrase for p, phrase in zip(prefixes, phrases, strict=True)}


def found(phrases: list[list[str]], page: list[str]) -> set[tuple[int, str]]:
    index, by_hash = index_of(phrases)
    places, numbers = index.find(WORDS.of(page))
    hashes = index.hashes[numbers].tolist()
    return {(p, " ".join(by_hash[h])) for p, h in zip(places.tolist(), hashes, strict=True)}


def test_finds_phrases_within_others_and_at_the_end():
    phrases = [p.split() for p in ("the cat", "cat", "the cat sat on", "dog", "on the mat")]
    page = ["the", "cat", "sat", "on", "the", "mat", "dog"]
    assert found(phrases, page) == {
        (0, "the cat"), (1, "cat"), (0, "the cat sat on"), (3, "on the mat"), (6, "dog"),
    }  # fmt: skip


@given(st.lists(SENTENCES, min_size=1, max_size=6), st.lists(st.sampled_from("abcde"), max_size=30))
def test_finds_what_a_plain_search_finds(phrases, page):
    expected = {
        (at, " ".join(phrase))
        for phrase in phrases
        for at in range(len(page))
        if page[at : at + len(phrase)] == phrase
    }
    assert found(phrases, page) == expected


def test_no_phrase_runs_across_a_break():
    index, _ = index_of([["a", "b"]])
    page = WORDS.of(["a", "b", "a", "b"])
    page[1] = BREAK
    assert index.find(page)[0].tolist() == [2]


def test_an_empty_page_holds_nothing():
    index, _ = index_of([["a"]])
    places, numbers = index.find(np.empty(0, np.uint64))
    assert len(places) == len(numbers) == 0


def test_an_index_without_phrases_is_refused():
    with pytest.raises(ValueError, match="no phrase"):
        build_index(np.empty(0, np.uint64), np.empty(0, np.uint64))


def test_ten_thousand_phrases_are_found_each_by_its_own_words():
    phrases = [[f"w{i}", f"w{i * 7 % 10_000}", "x"][: 1 + i % 3] for i in range(10_000)]
    index, by_hash = index_of(phrases)
    assert len(index.hashes) == len({tuple(p) for p in phrases})
    for phrase in phrases[::97]:
        _, numbers = index.find(WORDS.of(phrase))
        assert phrase in [by_hash[h] for h in index.hashes[numbers].tolist()]


def test_terms_lose_accents_and_unspaced_scripts_are_cut():
    assert search_terms("Śvētāmbara Paraná") == ["svetambara", "parana"]
    assert search_terms("東京タワー 2") == ["東", "京", "タ", "ワ", "ー", "2"]
    assert search_terms("서울 타워") == ["서울", "타워"]


def test_a_title_is_searched_without_its_qualifier():
    assert title_phrase("Mercury (planet)") == ["mercury"]
    assert title_phrase("(What's the Story) Morning Glory?") == [
        "what", "s", "the", "story", "morning", "glory",
    ]  # fmt: skip
    assert title_phrase("(Qualifier)") == ["qualifier"]
    assert title_phrase("!!!") == []
