"""Evaluation of rankings (Liu & Lapata 2019, tables 1 and 2; Liu et al. 2018, figure 3).

No torch here, but for the learned ranker if one is asked for.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from wikisum.ranker.data.shards import row_groups, split_shards
from wikisum.ranker.rank import LEARNED, METHODS, best_first, rank
from wikisum.ranker.recall import CUTS, RankedArticle, in_page_order, read_articles, recalls_at
from wikisum.ranker.rouge import rouge, rouge_tokens
from wikisum.ranker.runs.progress import ProgressLine
from wikisum.ranker.runs.tables import markdown_table
from wikisum.ranker.select import extractive_summary, lead_sentences, lead_summary
from wikisum.ranker.sumbasic import sumbasic_sentences

if TYPE_CHECKING:
    from wikisum.ranker.learned.score import Scorer

ROUGES = ("rouge1", "rouge2", "rougeL")
AS_STORED = "stored"  # the order of the shard
SENTENCES = ("lead-3", "sumbasic_sentences")  # they give a summary, but no order of paragraphs
_CHUNK_ARTICLES = 16


class MethodScores(NamedTuple):
    """Scores of a method on one article, in 0..1; None if it gives no order of paragraphs.

    `recalls` at each of `CUTS`; F1 of `ROUGES` for the summary, and with the title before it.
    """

    method: str
    seconds: float
    recalls: list[float] | None
    summary: list[float]
    titled: list[float] | None


def summary_scores(summary: str, lead: str) -> list[float]:
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L (each text one sequence), stemmed as in the papers."""
    scores = rouge(summary, lead, stem=True)
    return [scores[name]["f1"] for name in ROUGES]


def score_order(
    method: str,
    order: Sequence[int],
    seconds: float,
    article: RankedArticle,
    words: Sequence[Sequence[str]],
) -> MethodScores:
    """Return the figures of one order of an article's paragraphs; `words` are their `rouge_tokens`.

    Summaries are as long as the lead, the last paragraph cut.
    """
    length = len(article.lead.split())
    return MethodScores(
        method,
        seconds,
        recalls_at(order, words, rouge_tokens(article.lead)),
        summary_scores(extractive_summary(order, article.paragraphs, length), article.lead),
        summary_scores(
            lead_summary(article.title, order, article.paragraphs, length), article.lead
        ),
    )


def score_sentence_methods(article: RankedArticle) -> Iterator[MethodScores]:
    """Yield the figures of the methods that pick sentences."""
    length = len(article.lead.split())
    summaries: list[Callable[[], str]] = [
        lambda: lead_sentences(article.paragraphs),
        lambda: " ".join(sumbasic_sentences(article.paragraphs, length)),
    ]
    for name, summary_of in zip(SENTENCES, summaries, strict=True):
        start = time.perf_counter()
        words = summary_of().split()
        seconds = time.perf_counter() - start
        cut = " ".join(words if name == "lead-3" else words[:length])
        yield MethodScores(name, seconds, None, summary_scores(cut, article.lead), None)


def score_chunk(
    stored: Sequence[RankedArticle], methods: Sequence[str], scorer: "Scorer | None"
) -> Iterator[MethodScores]:
    """Yield the figures of every method on some articles, each given in the order of its shard."""
    articles = [in_page_order(article) for article in stored]
    start = time.perf_counter()
    learned = scorer.score_articles([(a.title, a.paragraphs) for a in articles]) if scorer else []
    seconds = (time.perf_counter() - start) / len(articles)
    for i, article in enumerate(articles):
        words = [rouge_tokens(paragraph) for paragraph in article.paragraphs]
        index_of = {position: index for index, position in enumerate(article.positions)}
        as_stored = [index_of[position] for position in stored[i].positions]
        yield score_order(AS_STORED, as_stored, 0.0, article, words)
        for method in methods:
            start = time.perf_counter()
            order = rank(method, article.title, article.paragraphs, lead=article.lead)
            yield score_order(method, order, time.perf_counter() - start, article, words)
        if scorer:
            yield score_order(LEARNED, best_first(learned[i]), seconds, article, words)
        yield from score_sentence_methods(article)


def evaluate_ranking(
    data: str,
    split: str,
    run: Path | None = None,
    methods: Sequence[str] = tuple(METHODS),
    limit: int | None = None,
    device: str = "auto",
    to: TextIO = sys.stderr,
) -> list[dict[str, Any]]:
    """Return a row of figures for each method on the articles of a split (the first `limit`).

    `run` is the folder of a trained ranker, one row more. Raises ValueError or FileNotFoundError
    for what is not there.
    """
    for method in methods:
        if method not in METHODS:
            raise ValueError(f"no ranking method {method!r}: one of {', '.join(METHODS)}")
    groups = row_groups(split_shards(data, split))
    scorer = None
    if run is not None:
        from wikisum.ranker.learned.score import Scorer  # loads torch

        scorer = Scorer.load(run, device)
    total = min(sum(group.rows for group in groups), limit or 1 << 62)
    if not total:
        raise ValueError(f"the {split} shards in {data} hold no article")
    scored: dict[str, list[MethodScores]] = {}
    line = ProgressLine("ranking", "articles", total, to)
    articles, done = islice(read_articles(groups), total), 0
    while chunk := list(islice(articles, _CHUNK_ARTICLES)):
        line.draw(done)
        done += len(chunk)
        for one in score_chunk(chunk, methods, scorer):
            scored.setdefault(one.method, []).append(one)
    return [_row(method, some) for method, some in scored.items()]


def _row(method: str, scored: Sequence[MethodScores]) -> dict[str, Any]:
    """The means, in percent and milliseconds; no recalls for a method that gives no order."""
    row: dict[str, Any] = {"method": method, "articles": len(scored)}
    if method != AS_STORED:
        row["ms_per_article"] = round(1000 * float(np.mean([j.seconds for j in scored])), 3)
    for name, keys, values in (
        ("rougeL_recall", [str(cut) for cut in CUTS], [j.recalls for j in scored]),
        ("summary_f1", ROUGES, [j.summary for j in scored]),
        ("titled_summary_f1", ROUGES, [j.titled for j in scored]),
    ):
        if values[0] is not None:
            means = (100 * np.mean(np.array(values), 0)).round(2).tolist()
            row[name] = dict(zip(keys, means, strict=True))
    return row


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows of `evaluate_ranking` as two tables for people."""
    recalls = [["method", *(f"L' = {cut}" for cut in CUTS), "ms per article"]]
    for row in rows:
        if "rougeL_recall" in row:
            cells = [f"{value:.2f}" for value in row["rougeL_recall"].values()]
            time_ms = f"{row['ms_per_article']:.1f}" if "ms_per_article" in row else ""
            recalls.append([row["method"], *cells, time_ms])
    names = "R-1", "R-2", "R-L"
    scores = [["method", *names, *(f"{name}, title first" for name in names)]]
    for row in rows:
        both = [row["summary_f1"], row.get("titled_summary_f1", dict.fromkeys(ROUGES))]
        cells = ["" if v is None else f"{v:.2f}" for some in both for v in some.values()]
        scores.append([row["method"], *cells])
    return (
        "ROUGE-L recall (%) of the best L' paragraphs, joined, against the lead; "
        f"{rows[0]['articles']:,} articles\n\n{markdown_table(recalls)}\n"
        "ROUGE F1 (%, stemmed; R-L is rougeL, each text one sequence) of summaries as long as the\n"
        "lead (lead-3: three sentences): the best paragraphs; the title, then the best paragraphs\n"
        f"\n{markdown_table(scores)}"
    )
