"""The Python interface: what `import wikisum` offers, loaded when it is first used."""

from pathlib import Path
from typing import TYPE_CHECKING

from wikisum.dataset import Dataset, Split, edges, graph, open_dataset
from wikisum.ranker.rouge import rouge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wikisum.models.decoding.summarize import Summarizer

__all__ = (
    "Dataset", "Split", "edges", "extract", "graph", "load_run", "open_dataset", "rank", "rouge",
)  # fmt: skip


def rank(
    title: str, paragraphs: "Sequence[str]", method: str = "tfidf", lead: str | None = None
) -> list[int]:
    """Return the indexes of the paragraphs, best first.

    `method` is any of `wikisum.ranker.rank.METHODS`; some of them need the lead. Raises ValueError
    for another one.

        >>> rank("Iron bridge", ["Trains are late.", "The bridge is built of iron."])
        [1, 0]
    """
    from wikisum.ranker.rank import rank as ranked

    return ranked(method, title, paragraphs, lead)


def extract(html: bytes | str, extractor: str = "fast") -> list[str]:
    """Return the paragraphs of an HTML page in reading order.

    Raises BadPage for a page that cannot be read, ValueError for an unknown extractor.

        >>> extract("<p>One <b>bold</b> word.<p>Two.")
        ['One bold word.', 'Two.']
    """
    from wikisum.crawl.html import extract_paragraphs

    if isinstance(html, str):
        return extract_paragraphs(html.encode("utf-8", "replace"), "utf-8", extractor)
    return extract_paragraphs(html, None, extractor)


def load_run(run: str | Path, checkpoint: str = "best", device: str = "auto") -> "Summarizer":
    """Return the summarizer of a training run, whose `summarize(title, paragraphs)` writes.

    `checkpoint` is `best`, `last`, `average` or a step. Needs torch. Raises FileNotFoundError if
    the folder holds no run.
    """
    from wikisum.models.decoding.summarize import load_run as load

    return load(Path(run), checkpoint, device)
