import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from wikisum.crawl.tokens import terms
from wikisum.models.evaluation.attention_cosine import attention_cosine, gold_attention

LEAD = "Ada wrote programs"
PARAGRAPHS = ["Ada wrote", "programs of Ada", "the weather"]


def test_gold_attention_by_hand():
    """Of three paragraphs two have `ada`; each other term is in one."""
    common, rare = math.log(3 / 2), math.log(3)
    lead = math.sqrt(common**2 + 2 * rare**2)  # ada, wrote, programs
    first = (common**2 + rare**2) / (lead * math.hypot(common, rare))
    second = (common**2 + rare**2) / (lead * math.sqrt(common**2 + 2 * rare**2))
    whole = first + second
    assert gold_attention(LEAD, PARAGRAPHS) == pytest.approx([first / whole, second / whole, 0])


def test_the_cosine_by_hand():
    first, second, _ = gold_attention(LEAD, PARAGRAPHS)
    expected = (0.5 * first + 0.3 * second) / (math.hypot(first, second) * math.sqrt(0.38))
    assert attention_cosine(LEAD, PARAGRAPHS, [0.5, 0.3, 0.2]) == pytest.approx(expected)
    assert attention_cosine(LEAD, PARAGRAPHS, [0, 0, 1]) == 0


@pytest.mark.parametrize(
    ("lead", "paragraphs", "attention"),
    [("Ada", ["Ada wrote"], [1.0]), ("nothing else", PARAGRAPHS, [0.5, 0.3, 0.2]),
     (LEAD, PARAGRAPHS, [0.0, 0.0, 0.0]), (LEAD, [], [])],
)  # fmt: skip
def test_without_any_weight_there_is_no_cosine(lead, paragraphs, attention):
    assert attention_cosine(lead, paragraphs, attention) is None


words = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "g"]), max_size=6).map(" ".join)
texts = st.lists(words, min_size=1, max_size=6)


@pytest.mark.slow
@given(words, texts)
def test_agrees_with_scikit_learn(lead, paragraphs):
    """Its idf has 1 added, so the idf of the Liu & Lapata paper is put into it."""
    counter = CountVectorizer(tokenizer=terms, token_pattern=None, lowercase=False)
    try:
        counts = counter.fit_transform(paragraphs)
    except ValueError:  # no term at all
        assert not any(gold_attention(lead, paragraphs))
        return
    transformer = TfidfTransformer().fit(counts)
    transformer.idf_ = np.log(len(paragraphs) / np.asarray((counts > 0).sum(0))[0])
    vectors = transformer.transform(counts).toarray()
    scores = vectors @ transformer.transform(counter.transform([lead])).toarray()[0]
    expected = scores / scores.sum() if scores.sum() > 1e-12 else np.zeros(len(paragraphs))
    assert gold_attention(lead, paragraphs) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(words, texts, st.data())
def test_a_cosine_is_a_share_and_knows_no_scale(lead, paragraphs, data):
    weights = st.lists(st.floats(0, 1), min_size=len(paragraphs), max_size=len(paragraphs))
    attention = [round(weight, 3) for weight in data.draw(weights)]
    found = attention_cosine(lead, paragraphs, attention)
    gold = gold_attention(lead, paragraphs)
    if found is None:
        assert not any(gold) or not any(attention)
        return
    assert 0 <= found <= 1
    assert attention_cosine(lead, paragraphs, [7 * a for a in attention]) == pytest.approx(found)
    assert attention_cosine(lead, paragraphs, gold) == pytest.approx(1)
