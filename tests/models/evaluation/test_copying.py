import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.tokens import terms
from wikisum.models.evaluation.copying import (
    Run,
    copied_runs,
    copied_share,
    fragment_coverage,
    fragment_density,
    fragments,
    longest_matches,
    novel_share,
    repeated_share,
    word_spans,
)

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)
SOURCES = st.lists(WORDS, max_size=4)


def stands_in(words, source):
    return any(source[i : i + len(words)] == words for i in range(len(source) - len(words) + 1))


def brute_length(words, start, sources):
    lengths = [
        n
        for n in range(1, len(words) - start + 1)
        if any(stands_in(words[start : start + n], source) for source in sources)
    ]
    return max(lengths, default=0)


@pytest.mark.slow
@given(WORDS, SOURCES)
def test_matches_are_the_longest_that_search_finds(words, sources):
    matches = longest_matches(words, sources)
    assert [m.length for m in matches] == [
        brute_length(words, i, sources) for i in range(len(words))
    ]
    for start, (length, source) in enumerate(matches):
        if length:
            first = next(
                i for i, s in enumerate(sources) if stands_in(words[start : start + length], s)
            )
            assert source == first


def test_a_run_does_not_go_over_from_one_source_to_the_next():
    assert [m.length for m in longest_matches(["a", "b"], [["a"], ["b"]])] == [1, 1]
    assert longest_matches(["a"], [])[0].length == 0


def test_figures_by_hand():
    text = terms("the old bridge over the river was painted by nine men")
    sources = [terms("an old bridge over the river stood"), terms("was painted by two men")]
    matches = longest_matches(text, sources)
    assert [m.length for m in matches] == [1, 5, 4, 3, 2, 1, 3, 2, 1, 0, 1]
    assert copied_runs(matches) == [Run(1, 6, 0)]
    assert copied_runs(matches, 3) == [Run(1, 6, 0), Run(6, 9, 1)]
    assert copied_share(matches) == pytest.approx(5 / 11)
    assert fragments(matches) == [1, 5, 3, 1]
    assert fragment_coverage(matches) == pytest.approx(10 / 11)
    assert fragment_density(matches) == pytest.approx((1 + 25 + 9 + 1) / 11)
    assert novel_share(text, matches, 1) == pytest.approx(1 / 10)  # "nine" of ten distinct words
    assert novel_share(text, matches, 2) == pytest.approx(4 / 10)
    assert novel_share(text, matches, 12) is None


@pytest.mark.slow
@given(WORDS, SOURCES, st.integers(1, 5))
def test_novel_and_copied_shares_are_those_of_sets_of_ngrams(words, sources, size):
    def grams(text):
        return [tuple(text[i : i + size]) for i in range(len(text) - size + 1)]

    matches = longest_matches(words, sources)
    known = {gram for source in sources for gram in grams(source)}
    new = set(grams(words)) - known
    expected = len(new) / len(set(grams(words))) if grams(words) else None
    assert novel_share(words, matches, size) == expected
    covered = {i + k for i, gram in enumerate(grams(words)) if gram in known for k in range(size)}
    assert copied_share(matches, size) == pytest.approx(len(covered) / max(len(words), 1))


@pytest.mark.slow
@given(WORDS, SOURCES)
def test_fragments_are_those_of_the_published_algorithm(words, sources):
    found, i = [], 0
    while i < len(words):  # Grusky et al. 2018, figure 3
        best = 0
        for source in sources:
            j = 0
            while j < len(source):
                if words[i] == source[j]:
                    i_, j_ = i, j
                    while i_ < len(words) and j_ < len(source) and words[i_] == source[j_]:
                        i_, j_ = i_ + 1, j_ + 1
                    best = max(best, i_ - i)
                j += 1
        i += max(best, 1)
        if best:
            found.append(best)
    assert fragments(longest_matches(words, sources)) == found


def test_overlapping_runs_are_both_reported():
    text = list("abcdef")
    matches = longest_matches(text, [list("abcd"), list("cdef")])
    assert copied_runs(matches) == [Run(0, 4, 0), Run(2, 6, 1)]
    assert copied_share(matches) == 1.0


def test_repeated_share_by_hand():
    assert repeated_share(["a", "b", "c", "a", "b", "c", "a"]) == pytest.approx(2 / 5)
    assert repeated_share(["a", "b"]) is None
    assert repeated_share(["a", "b", "c"]) == 0.0


@given(st.text())
def test_word_spans_are_the_terms_of_a_text(text):
    spans = word_spans(text)
    assert [term for term, *_ in spans] == terms(text)
    assert all(text[start:end].strip() == text[start:end] != "" for _, start, end in spans)
