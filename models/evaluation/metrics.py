"""Metrics of summaries. Each is a sum over examples divided by another such sum.

ROUGE and the shares divide by the number of examples (a mean over examples), the perplexity by the
number of subwords. So one way to resample serves all of them (`models/significance.py`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wikisum.models.decoding.summary_files import Summary
from wikisum.models.evaluation.attention_cosine import attention_cosine
from wikisum.models.evaluation.copying import (
    copied_share,
    fragment_coverage,
    fragment_density,
    match_texts,
    novel_share,
    repeated_share,
)
from wikisum.pipeline.records import Section
from wikisum.ranker.rouge import rouge
from wikisum.ranker.sentences import sentences

Part = tuple[float, float]
ABSENT: Part = (0.0, 0.0)


class Metric(NamedTuple):
    """One column of the table. `scale` is what a value is multiplied with to be shown."""

    key: str
    label: str
    meaning: str
    scale: float = 100.0
    digits: int = 2
    is_compared: bool = False
    is_lower_better: bool = False


ROUGE_LABELS = {"rouge1": "R-1", "rouge2": "R-2", "rougeL": "R-L", "rougeLsum": "R-Lsum"}
ARTICLE = "article_"  # begins the keys of the metrics of whole articles
NOVEL_SIZES = (1, 2, 3, 4)
METRICS = (
    Metric("rouge1", "R-1", "ROUGE-1 F1", is_compared=True),
    Metric("rouge2", "R-2", "ROUGE-2 F1", is_compared=True),
    Metric("rougeL", "R-L", "ROUGE-L F1, each text one sequence", is_compared=True),
    Metric(
        "rougeLsum",
        "R-Lsum",
        "ROUGE-L F1, summary level: the union over sentences",
        is_compared=True,
    ),
    *(
        Metric(
            f"{ARTICLE}{name}",
            f"article {label}",
            f"{label} of the whole article: lead, headings and sections",
            is_compared=True,
        )
        for name, label in ROUGE_LABELS.items()
    ),
    Metric(
        "log_perplexity",
        "log-ppl",
        "log-perplexity: mean natural logarithm per subword of the gold lead or, for a model that "
        "writes whole articles, of the article (cut at the run's --lead-tokens or "
        "--article-tokens), its end counted",
        1.0,
        4,
        is_compared=True,
        is_lower_better=True,
    ),
    Metric(
        "attention_cosine",
        "attention",
        "cosine of the attention to paragraphs with their tf-idf similarity to the lead",
        is_compared=True,
    ),
    Metric("rouge1_precision", "R-1 prec", "ROUGE-1 precision"),
    Metric("rouge1_recall", "R-1 recall", "ROUGE-1 recall"),
    Metric("words", "words", "words of the summary (unspaced runs), without its sections", 1.0, 1),
    Metric("length_ratio", "of lead", "words of the summaries over words of the leads", 1.0, 3),
    Metric("sections", "sections", "sections that were written", 1.0, 1),
    Metric("subwords", "subwords", "subwords of the summary and its sections and end", 1.0, 1),
    Metric("repeated", "repeated", "share of trigrams that stood in the summary before"),
    *(
        Metric(f"novel{n}", f"new {n}", f"share of distinct {n}-grams in no paragraph read")
        for n in NOVEL_SIZES
    ),
    Metric("copied", "copied", "share of words inside copied runs of 4 words or more"),
    Metric("coverage", "coverage", "share of words in extractive fragments (Grusky et al. 2018)"),
    Metric(
        "density",
        "density",
        "mean length of the fragment that a word is in (Grusky et al. 2018)",
        1.0,
    ),
)
PERPLEXITY = Metric("perplexity", "ppl", "perplexity per subword: exp of log-ppl", 1.0)
_AFTER = 1 + next(i for i, metric in enumerate(METRICS) if metric.key == "log_perplexity")
COLUMNS = (*METRICS[:_AFTER], PERPLEXITY, *METRICS[_AFTER:])


def summary_parts(row: Summary, stem: bool) -> dict[str, Part]:
    """(numerator, denominator) of every metric for one summary.

    A metric that is not to be had for it is (0, 0): no attention to the example at all.
    """
    words = len(row.summary.split())
    return {
        **_lead_parts(row, stem),
        **_article_parts(row, stem),
        "log_perplexity": _perplexity_part(row),
        "attention_cosine": _attention_part(row),
        "words": (words, 1.0),
        "length_ratio": (words, len(row.lead.split())),
        "sections": ABSENT if row.sections is None else (len(row.sections), 1.0),
        "subwords": ABSENT if row.tokens is None else (row.tokens, 1.0),
        **_copy_parts(row),
    }


def _lead_parts(row: Summary, stem: bool) -> dict[str, Part]:
    scores = rouge(_lines([row.summary]), _lines([row.lead]), stem)
    sides = {f"rouge1_{side}": (scores["rouge1"][side], 1.0) for side in ("precision", "recall")}
    return {**{name: (score["f1"], 1.0) for name, score in scores.items()}, **sides}


def _rouge_parts(written: Sequence[str], gold: Sequence[str], stem: bool) -> dict[str, Part]:
    scores = rouge(_lines(written), _lines(gold), stem)
    return {name: (score["f1"], 1.0) for name, score in scores.items()}


def _article_parts(row: Summary, stem: bool) -> dict[str, Part]:
    if row.sections is None or row.gold_sections is None:
        return dict.fromkeys((ARTICLE + name for name in ROUGE_LABELS), ABSENT)
    written = [row.summary, *_texts_of(row.sections)]
    gold = [row.lead, *_texts_of(row.gold_sections)]
    return {ARTICLE + name: part for name, part in _rouge_parts(written, gold, stem).items()}


def _texts_of(sections: Sequence[Section]) -> Iterator[str]:
    """Yield headings and texts in their order."""
    for section in sections:
        yield section.title
        yield section.text


def _lines(texts: Sequence[str]) -> str:
    """Return the sentences of some texts, each on a line."""
    return "\n".join(sentence for text in texts for sentence in sentences(text))


def _perplexity_part(row: Summary) -> Part:
    if row.lead_log_prob is None or not row.lead_tokens:
        return ABSENT
    return -row.lead_log_prob, float(row.lead_tokens)


def _attention_part(row: Summary) -> Part:
    read = [(p.text, p.attention) for p in row.paragraphs if p.attention is not None]
    if not read:
        return ABSENT
    gold = "\n".join([row.lead, *(section.text for section in row.gold_sections or ())])
    cosine = attention_cosine(gold, [text for text, _ in read], [weight for _, weight in read])
    return ABSENT if cosine is None else (cosine, 1.0)


def _copy_parts(row: Summary) -> dict[str, Part]:
    words, matches = match_texts(row.summary, [p.text for p in row.paragraphs])
    repeated = repeated_share(words)
    parts = {"repeated": ABSENT if repeated is None else (repeated, 1.0)}
    keys = [*(f"novel{n}" for n in NOVEL_SIZES), "copied", "coverage", "density"]
    if not words or not row.paragraphs:
        return parts | dict.fromkeys(keys, ABSENT)
    shares = [
        *(novel_share(words, matches, n) for n in NOVEL_SIZES),
        copied_share(matches),
        fragment_coverage(matches),
        fragment_density(matches),
    ]
    return parts | {
        key: ABSENT if share is None else (share, 1.0)
        for key, share in zip(keys, shares, strict=True)
    }
