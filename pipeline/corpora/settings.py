"""Settings of importing other corpora."""

from dataclasses import dataclass

from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.setting import language_code
from wikisum.ranker.setting import Checked, setting

UNITS = ("lines", "sentences")
ENTRY_SPLITS = ("given", "hash", *SPLITS)


@dataclass(frozen=True)
class CorpusSettings(Checked):
    """How the entries of another corpus become articles and documents."""

    units: str | None = setting(
        None,
        "what becomes a paragraph: a line or a sentence of a document",
        choices=UNITS,
        default_text="sentences for cnndm, lines for the others",
    )
    paragraph_words: int | None = setting(
        None,
        "join neighboring units to paragraphs of at most N words",
        at_least=1,
        default_text="one unit per paragraph",
    )
    splits: str = setting(
        "given",
        "split of the entries: as lists, columns and names of files say, else by a hash (given); "
        "by a hash, 80/10/10 (hash); or all of one split",
        choices=ENTRY_SPLITS,
    )
    language: str = setting("en", "language of the corpus", metavar="CODE", parse=language_code)
    limit: int | None = setting(
        None, "use only the first N entries of each file", at_least=1, default_text="all"
    )


@dataclass(frozen=True)
class ColumnSettings(Checked):
    """The columns of a table; a list of texts in `text` is a list of documents."""

    text: str = setting("text", "column of the text, or of the list of texts", metavar="COL")
    summary: str = setting("summary", "column of the summary", metavar="COL")
    title: str | None = setting(None, "column of the title", metavar="COL")
    id: str | None = setting(None, "column of the identifier or URL", metavar="COL")
    split: str | None = setting(None, "column of the split", metavar="COL")
    separator: str | None = setting(
        None, "separator of the documents within a text", metavar="TEXT"
    )
