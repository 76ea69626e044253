"""How good is a ranking? ROUGE-L recall of the best paragraphs (Liu & Lapata 2019, table 1)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wikisum.ranker.data.shards import RowGroup, read_group
from wikisum.ranker.rouge import lcs_lengths

CUTS = (5, 10, 20, 40)


class RankedArticle(NamedTuple):
    """What a ranking is judged on: the paragraphs, in the order of the shard, and the lead.

    `positions` are the paragraphs' documents and positions there.
    """

    title: str
    lead: str
    paragraphs: list[str]
    positions: list[tuple[int, int]]


def read_articles(groups: Sequence[RowGroup]) -> Iterator[RankedArticle]:
    """Yield the articles of some row groups. Raises ValueError if a column is missing."""
    columns = ["title", "lead", *(f"paragraphs.{n}" for n in ("text", "document", "position"))]
    for group in groups:
        for row in read_group(group, columns).to_pylist():
            paragraphs = row["paragraphs"]
            positions = [(p["document"], p["position"]) for p in paragraphs]
            yield RankedArticle(
                row["title"], row["lead"], [p["text"] for p in paragraphs], positions
            )


def in_page_order(article: RankedArticle) -> RankedArticle:
    """Return the article as it was before it was ranked: paragraphs as they stand in its pages."""
    order = sorted(range(len(article.positions)), key=article.positions.__getitem__)
    return article._replace(
        paragraphs=[article.paragraphs[i] for i in order],
        positions=[article.positions[i] for i in order],
    )


def recalls_at(
    order: Sequence[int],
    paragraphs: Sequence[Sequence[str]],
    lead: Sequence[str],
    cuts: Sequence[int] = CUTS,
) -> list[float]:
    """ROUGE-L recall of the lead in the best paragraphs, for each number of them in `cuts`.

    Texts are given as `rouge_tokens`; paragraphs are joined in the order of their ranks.
    """
    lengths = [0, *lcs_lengths(lead, (paragraphs[i] for i in order[: max(cuts)]))]
    return [lengths[min(cut, len(lengths) - 1)] / max(len(lead), 1) for cut in cuts]
