"""What the readers of corpora yield: entries, and where each one stands."""

import re
from typing import NamedTuple

from wikisum.crawl.errors import DataError
from wikisum.crawl.whitespace import normalize_whitespace, replace_surrogates

_SPLIT = re.compile(
    r"(?:^|[^a-z])(?:(train)(?:ing)?|(val|valid|validation|dev)|(test)(?:ing)?)(?![a-z])"
)
_SPLITS = ("train", "validation", "test")


class SourceText(NamedTuple):
    """A document of an entry: its text, one unit per line, and its URL if the corpus has it."""

    text: str
    url: str | None = None


class Entry(NamedTuple):
    """An example of a corpus: a summary and the documents that it summarizes.

    The lines of `summary` are its sentences, where the corpus separates them. `name` is how the
    corpus calls the entry: an id or a URL. `split` is None if the entry itself does not say it.
    """

    title: str
    summary: str
    documents: list[SourceText]
    name: str | None = None
    split: str | None = None


class CorpusRow(NamedTuple):
    """An entry, or what is wrong with it, the file it is in, and its
    number and byte offset there."""

    file: str
    number: int
    offset: int
    entry: Entry | DataError


def lines(text: str) -> list[str]:
    """Return the lines of a text without surplus white space, none empty."""
    cleaned = (normalize_whitespace(line) for line in replace_surrogates(text).splitlines())
    return [line for line in cleaned if line]


def split_of_name(name: str) -> str | None:
    """Return the split that the name of a file, a folder or a split column says, or None.

    The last word counts: `train/part-test.jsonl` is of `test`.
    """
    found = list(_SPLIT.finditer(name.lower()))
    return _SPLITS[found[-1].lastindex - 1] if found and found[-1].lastindex else None
