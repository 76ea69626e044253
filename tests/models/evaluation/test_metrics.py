import math

import pytest
from rouge_score.rouge_scorer import RougeScorer

from wikisum.models.decoding.summary_files import ReadParagraph, Summary
from wikisum.models.evaluation.attention_cosine import attention_cosine
from wikisum.models.evaluation.metrics import ABSENT, COLUMNS, METRICS, summary_parts
from wikisum.pipeline.records import Section
from wikisum.ranker.sentences import sentences

LEAD = "The Tavin Bridge is an iron arch bridge. It was opened in 1881 to carry trains."
TEXT = "It was opened in 1881 by Josiah Penrose. The Tavin Bridge carries trains."


def summary(text=TEXT, **changes):
    plain = Summary("a", "Tavin Bridge", LEAD, text, paragraphs=(ReadParagraph(LEAD),))
    return plain._replace(**changes)


def values(row, stem=False):
    return {k: n / d for k, (n, d) in summary_parts(row, stem).items() if d}


@pytest.mark.parametrize("stem", [True, False])
def test_rouge_is_that_of_the_reference_implementation(stem):
    names = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    scorer = RougeScorer(names, use_stemmer=stem)
    result = scorer.score(*("\n".join(sentences(t)) for t in (LEAD, TEXT)))
    found = values(summary(), stem)
    assert [found[n] for n in names] == pytest.approx([result[n].fmeasure for n in names])
    assert found["rougeL"] < found["rougeLsum"]


def test_every_column_has_its_parts():
    assert summary_parts(summary(), True).keys() == {metric.key for metric in METRICS}
    assert [m.key for m in COLUMNS if m not in METRICS] == ["perplexity"]
    assert len({metric.label for metric in COLUMNS}) == len(COLUMNS)


def test_shares_are_shown_in_percent_and_counts_as_they_are():
    counts = {"words", "sections", "subwords", "length_ratio", "density"}
    as_they_are = {"perplexity", "log_perplexity"} | counts
    assert {m.key: m.scale for m in COLUMNS} == {
        m.key: 1 if m.key in as_they_are else 100 for m in COLUMNS
    }


def test_attention_is_compared_with_the_similarity_of_the_lead():
    texts = ["An iron bridge of 1881.", "Trains were late in winter.", "Nothing."]
    read = tuple(ReadParagraph(text, None, a) for text, a in zip(texts, (0.5, 0.5, 0), strict=True))
    expected = attention_cosine(LEAD, texts, [0.5, 0.5, 0])
    assert 0 < expected < 1
    assert summary_parts(summary(paragraphs=read), True)["attention_cosine"] == (expected, 1.0)
    article = summary(paragraphs=read, gold_sections=(Section("", 2, "nothing"),))
    assert values(article)["attention_cosine"] < expected
    unread = (*read[:2], read[2]._replace(attention=None))
    assert values(summary(paragraphs=unread))["attention_cosine"] == attention_cosine(
        LEAD, texts[:2], [0.5, 0.5]
    )


@pytest.mark.parametrize("shares", [(), (None, None), (0.0, 0.0)])
def test_without_attention_there_is_no_figure(shares):
    read = tuple(ReadParagraph(f"iron {i}", None, a) for i, a in enumerate(shares))
    assert summary_parts(summary(paragraphs=read), True)["attention_cosine"] == ABSENT


def test_perplexity_is_of_the_gold_lead_and_weighs_subwords():
    row = summary(lead_log_prob=-30.0, lead_tokens=20, tokens=11)
    parts = summary_parts(row, True)
    assert parts["log_perplexity"] == (30.0, 20.0)
    assert parts["subwords"] == (11, 1.0)
    assert summary_parts(summary(lead_log_prob=-30.0), True)["log_perplexity"] == ABSENT


def test_lengths_and_copying_by_hand():
    found = values(summary())
    assert found["words"] == 13
    assert found["length_ratio"] == 13 / 16
    # "it was opened in 1881", "the tavin bridge" and "trains" of thirteen words are the source's
    assert found["coverage"] == pytest.approx(9 / 13)
    assert found["density"] == pytest.approx((25 + 9 + 1) / 13)
    assert found["copied"] == pytest.approx(5 / 13)
    assert found["novel1"] == pytest.approx(4 / 13)
    assert found["novel4"] == pytest.approx(8 / 10)
    assert found["repeated"] == 0.0


def test_an_empty_summary_scores_nothing_and_says_nothing_of_copying():
    parts = summary_parts(summary(""), True)
    assert parts["rouge1"] == (0.0, 1.0)
    assert parts["words"] == (0, 1.0)
    for key in ("repeated", "novel1", "copied", "density"):
        assert parts[key] == ABSENT


def test_without_paragraphs_there_is_nothing_to_copy_from():
    parts = summary_parts(summary(paragraphs=()), True)
    assert parts["copied"] == ABSENT
    assert parts["repeated"] == (0.0, 1.0)
    assert all(math.isfinite(n) for n, _ in parts.values())


def test_whole_articles_are_scored_with_headings_and_sections():
    gold = (Section("Use", 2, "Trains cross it."),)
    written = (Section("Use", 2, "Boats cross it."), Section("Past", 2, ""))
    row = summary("A bridge.", lead="A bridge.", sections=written, gold_sections=gold)
    parts = summary_parts(row, stem=False)
    # gold: a bridge use trains cross it; written: a bridge use boats cross it past
    assert parts["article_rouge1"] == (pytest.approx(2 * 5 / (6 + 7)), 1.0)
    assert parts["article_rouge2"] == (pytest.approx(2 * 3 / (5 + 6)), 1.0)
    assert parts["rouge1"] == (1.0, 1.0)
    assert parts["sections"] == (2, 1.0)


@pytest.mark.parametrize("missing", ["sections", "gold_sections"])
def test_a_lead_has_no_figures_of_an_article(missing):
    whole = {"sections": (), "gold_sections": ()}
    parts = summary_parts(summary(**{**whole, missing: None}), stem=False)
    assert parts["article_rougeL"] == (0.0, 0.0)
