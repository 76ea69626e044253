import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.ranker.recall import CUTS, RankedArticle, in_page_order, recalls_at
from wikisum.ranker.rouge import lcs_length, lcs_lengths, rouge

WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


def test_recalls_by_hand():
    paragraphs = [["the", "end"], ["a", "b"], ["b", "c"]]
    lead = ["a", "b", "c", "d"]
    # best 1: a b; best 2: a b b c; best 3: the same and more
    assert recalls_at([1, 2, 0], paragraphs, lead, [1, 2, 3, 9]) == [0.5, 0.75, 0.75, 0.75]
    assert recalls_at([0, 2, 1], paragraphs, lead, [1, 2, 3]) == [0.0, 0.5, 0.5]
    assert recalls_at([], [], lead) == [0.0] * len(CUTS)
    assert recalls_at([0], paragraphs, []) == [0.0] * len(CUTS)


@given(WORDS, st.lists(WORDS, max_size=5))
def test_lengths_after_each_part_are_those_of_the_joined_text(gold, parts):
    joined = [[w for part in parts[: i + 1] for w in part] for i in range(len(parts))]
    assert lcs_lengths(gold, parts) == [lcs_length(gold, words) for words in joined]


@pytest.mark.slow
@given(st.lists(WORDS, min_size=1, max_size=7), WORDS)
def test_recalls_are_rouge_l_recall_of_the_joined_paragraphs(paragraphs, lead):
    order = list(range(len(paragraphs)))[::-1]
    for cut, recall in zip([1, 3], recalls_at(order, paragraphs, lead, [1, 3]), strict=True):
        text = " ".join(" ".join(paragraphs[i]) for i in order[:cut])
        assert recall == pytest.approx(rouge(text, " ".join(lead))["rougeL"]["recall"])


def test_page_order_is_that_of_documents_and_positions():
    article = RankedArticle("t", "l", ["c", "a", "b"], [(1, 0), (0, 2), (0, 7)])
    assert in_page_order(article).paragraphs == ["a", "b", "c"]
