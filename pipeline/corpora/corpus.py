"""The corpora by name: how their rows become entries, and what their dataset cards say."""

from collections.abc import Callable
from typing import Any, NamedTuple

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.corpora import cnndm, readers
from wikisum.pipeline.corpora.entry import Entry, SourceText, split_of_name
from wikisum.pipeline.corpora.rows import text_of, texts_of
from wikisum.pipeline.corpora.settings import ColumnSettings


class Corpus(NamedTuple):
    """A corpus: its default unit (`lines` or `sentences`) and the reader of its rows.

    `key` makes the name of a listed line under which its entry is found, if it has split lists.
    """

    name: str
    title: str
    unit: str
    row: Callable[[dict[str, Any]], Entry]
    about: str
    key: Callable[[str], str] | None = None


class TableRow:
    """Makes the entry of a row by the names of its columns."""

    def __init__(self, columns: ColumnSettings) -> None:
        self._columns = columns

    def __call__(self, row: dict[str, Any]) -> Entry:
        """Return the entry. Raises BadLine (`missing_column`, `unknown_split`)."""
        columns = self._columns
        texts = texts_of(row, columns.text)
        if columns.separator:
            texts = [part for text in texts for part in text.split(columns.separator)]
        name = row.get(columns.id) if columns.id else None
        return Entry(
            text_of(row, columns.title) if columns.title else "",
            text_of(row, columns.summary),
            [SourceText(text) for text in texts],
            None if name is None else str(name),
            _split(text_of(row, columns.split)) if columns.split else None,
        )


def _split(value: str) -> str:
    split = split_of_name(value)
    if split is None:
        raise BadLine("unknown_split", f"{value!r} is not train, validation or test")
    return split


_NEWS = "News articles as documents and the summaries published with them as leads."
CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "cnndm", "CNN/DailyMail", "sentences", cnndm.row_entry,
            "News articles and their highlights, which stand in `lead`, one per line (Hermann et "
            "al. 2015; Nallapati et al. 2016; See et al. 2017).", cnndm.story_key,
        ),
        Corpus(
            "wikihow", "WikiHow", "lines", readers.wikihow_entry,
            "Articles of wikihow.com and the first sentences of their steps (Koupaee and Wang "
            "2018).", readers.wikihow_key,
        ),
        Corpus("multinews", "Multi-News", "lines", readers.multi_news_row,
               f"{_NEWS} Fabbri et al. 2019."),
        Corpus("wcep", "WCEP", "lines", readers.wcep_entry,
               f"{_NEWS} Gholipour Ghalandari et al. 2020."),
        Corpus(
            "multixscience", "Multi-XScience", "lines", readers.multi_xscience_entry,
            "Abstracts of papers as documents, a paragraph of related work as lead (Lu et al. "
            "2020).",
        ),
        Corpus("examples", "WikiSum", "lines", readers.example_entry,
               "Examples of another dataset of wikisum, exported as JSON Lines or Parquet."),
    )
}  # fmt: skip


def table(columns: ColumnSettings) -> Corpus:
    """Return the corpus of a table with these columns."""
    about = "Rows of a table, with a text and its summary in each."
    return Corpus("table", "An imported table", "lines", TableRow(columns), about)
