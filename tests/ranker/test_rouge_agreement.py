import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from wikisum.ranker.rouge import rouge, rouge1_recall, rouge2_recall, rouge_tokens

KINDS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
SCORERS = {stem: RougeScorer(KINDS, use_stemmer=stem) for stem in (False, True)}
# Few words and many lines, so that there are many longest common subsequences to choose from.
LINES = st.lists(st.sampled_from(["a", "b", "c", "x-1", "\n"]), max_size=30).map(" ".join)
TEXTS = LINES | st.text(max_size=40)


def trusted(candidate, reference, stem=False):
    found = SCORERS[stem].score(reference, candidate)
    return {
        kind: {"precision": s.precision, "recall": s.recall, "f1": s.fmeasure}
        for kind, s in found.items()
    }


def test_stems_words_of_four_letters_and_more():
    assert rouge_tokens("Runs was running, dies", stem=True) == ["run", "was", "run", "die"]


@pytest.mark.slow
@given(TEXTS, TEXTS, st.booleans())
@settings(max_examples=400)
def test_equals_rouge_score_on_any_text(candidate, reference, stem):
    assert rouge(candidate, reference, stem) == trusted(candidate, reference, stem)


@pytest.mark.slow
@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_recalls_equal_rouge_score(paragraphs, reference):
    scores = [trusted(p, reference) for p in paragraphs]
    assert rouge2_recall(paragraphs, reference) == [s["rouge2"]["recall"] for s in scores]
    joined = trusted("\n".join(paragraphs), reference)
    assert rouge1_recall(paragraphs, reference) == joined["rouge1"]["recall"]


@pytest.mark.slow
@pytest.mark.parametrize("stem", [False, True])
def test_equals_rouge_score_on_real_text(real_pools, stem):
    for pool in real_pools:
        for paragraph in pool.paragraphs[:4]:
            # sentences as lines, so that rougeLsum has something to do
            one, other = (text.replace(". ", ".\n") for text in (paragraph, pool.lead))
            assert rouge(one, other, stem) == trusted(one, other, stem)


@pytest.mark.slow
def test_labels_equal_rouge_score_on_real_text(real_pools):
    for pool in real_pools:
        expected = [trusted(p, pool.lead)["rouge2"]["recall"] for p in pool.paragraphs[:4]]
        assert rouge2_recall(pool.paragraphs[:4], pool.lead) == expected
