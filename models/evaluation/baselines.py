"""Extractive baselines: summaries made from paragraphs of the same shards.

Each but `lead3` is as long as the gold lead, in words, as in table 2 of Liu & Lapata 2019.
"""

from collections.abc import Collection, Iterator
from typing import Any

from wikisum.models.decoding.summary_files import ReadParagraph, Summary
from wikisum.ranker.data.shards import read_group, row_groups, split_shards
from wikisum.ranker.rank import METHODS, rank
from wikisum.ranker.select import extractive_summary, lead_sentences, lead_summary

FIRST_WORDS, LEAD3 = "first-words", "lead3"
BASELINES = (FIRST_WORDS, LEAD3, *METHODS)
_COLUMNS = ("id", "title", "lead", "documents.url", "paragraphs.text", "paragraphs.document")


def baseline_summaries(
    name: str,
    data: str,
    split: str,
    ids: Collection[str] | None = None,
    max_paragraphs: int | None = None,
) -> Iterator[Summary]:
    """Yield the summaries of a baseline for a split of a dataset, in its order.

    `first-words` is the title and the ranked paragraphs in their order, and `lead3` their first
    three sentences, however long (Lead-3 of single-document summarization); any ranking method
    (`ranker.rank.METHODS`) the paragraphs in its own order, among them `oracle`, which looks at
    the lead. `ids` selects examples; `max_paragraphs` is how many of the ranked paragraphs a
    baseline may take from. Raises ValueError for an unknown name, FileNotFoundError for no shards.
    """
    if name not in BASELINES:
        raise ValueError(f"no baseline {name!r}: one of {', '.join(BASELINES)}")
    for group in row_groups(split_shards(data, split)):
        for row in read_group(group, _COLUMNS).to_pylist():
            if ids is None or row["id"] in ids:
                yield _summary(name, row, max_paragraphs)


def _summary(name: str, row: dict[str, Any], max_paragraphs: int | None) -> Summary:
    paragraphs = row["paragraphs"][:max_paragraphs]
    texts = [p["text"] for p in paragraphs]
    target_words = len(row["lead"].split())
    if name == FIRST_WORDS:
        text = lead_summary(row["title"], range(len(texts)), texts, target_words)
    elif name == LEAD3:
        text = lead_sentences(texts)
    else:
        order = rank(name, row["title"], texts, row["lead"])
        text = extractive_summary(order, texts, target_words)
    return Summary(
        row["id"],
        row["title"],
        row["lead"],
        text,
        model=name,
        settings={"max_paragraphs": max_paragraphs} if max_paragraphs else None,
        paragraphs=tuple(
            ReadParagraph(p["text"], row["documents"][p["document"]]["url"]) for p in paragraphs
        ),
    )
