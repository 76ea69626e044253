"""Files of summaries of any system: JSON Lines or Parquet, one row per example, read row by row."""

import json
from collections.abc import Iterable, Iterator
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.records import Section
from wikisum.ranker.data.errors import BadFile

_PARQUET_START = b"PAR1"
_ROWS_AT_ONCE = 256
_SECTIONS = ("sections", "gold_sections")


class BadSummaries(BadFile):
    """A file of summaries cannot be read, or files do not fit together; the message is one line."""


class ReadParagraph(NamedTuple):
    """A paragraph that a system read; `attention` is its share of the attention, or None."""

    text: str
    document_url: str | None = None
    attention: float | None = None


class Candidate(NamedTuple):
    """One of the best hypotheses of a search: its whole text, and figures as in `Summary`."""

    text: str
    score: float
    log_prob: float
    tokens: int


class Summary(NamedTuple):
    """The summary that a system wrote for one example, with the gold lead.

    A system that writes whole articles has `sections` besides, and `gold_sections` to compare them
    with; they are None for one that writes leads. `log_prob` and `lead_log_prob` are sums of
    natural logarithms over `tokens` and `lead_tokens` subwords, each with the end: of the lead, or
    of the whole article as the model learned it. `n_best` holds the best hypotheses, best first, if
    more than one was asked for. All but the first four may be None, or empty.
    """

    id: str
    title: str
    lead: str
    summary: str
    score: float | None = None
    log_prob: float | None = None
    tokens: int | None = None
    lead_tokens: int | None = None
    lead_log_prob: float | None = None
    model: str | None = None
    run: str | None = None
    settings: Any = None
    paragraphs: tuple[ReadParagraph, ...] = ()
    sections: tuple[Section, ...] | None = None
    gold_sections: tuple[Section, ...] | None = None
    n_best: tuple[Candidate, ...] | None = None

    def text(self) -> str:
        """Return the summary; sections follow it with their headings in wiki markup."""
        return article_text(self.summary, self.sections)

    def plain(self) -> dict[str, Any]:
        """Return the row as plain values, for JSON and Parquet."""
        lists = {name: getattr(self, name) for name in ("paragraphs", *_SECTIONS, "n_best")}
        plain = {
            name: None if rows is None else [row._asdict() for row in rows]
            for name, rows in lists.items()
        }
        return self._asdict() | plain


def article_text(lead: str, sections: Iterable[Section] | None) -> str:
    """Return a lead, and sections after it with their headings in wiki markup."""
    parts = [f"{'=' * s.level} {s.title} {'=' * s.level}\n{s.text}" for s in sections or ()]
    return "\n\n".join([lead, *parts])


_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "title", "lead", "summary"), (str,)),
    **dict.fromkeys(("score", "log_prob", "lead_log_prob"), (float, int, type(None))),
    **dict.fromkeys(("tokens", "lead_tokens"), (int, type(None))),
    **dict.fromkeys(("model", "run"), (str, type(None))),
}


def summary_from_row(row: Any) -> Summary:
    """Return the Summary in a row. Raises ValueError that says what is wrong with the row."""
    if not isinstance(row, dict):
        raise ValueError("is not an object")
    for name, types in _TYPES.items():
        value = row.get(name)
        is_odd = isinstance(value, bool) or (isinstance(value, float) and not isfinite(value))
        if is_odd or not isinstance(value, types):
            raise ValueError(f"has no {name}" if value is None else f"{name} is {value!r:.60}")
    paragraphs = row.get("paragraphs") or []
    if not isinstance(paragraphs, list):
        raise ValueError("paragraphs is not a list")
    plain: dict[str, Any] = {name: row.get(name) for name in Summary._fields}
    plain["paragraphs"] = tuple(_paragraph(p, i) for i, p in enumerate(paragraphs))
    lists = {name: _sections(row, name) for name in _SECTIONS}
    return Summary(**plain | lists | {"n_best": _candidates(row.get("n_best"))})


def _candidates(plain: Any) -> tuple[Candidate, ...] | None:
    if plain is None:
        return None
    try:
        return tuple(Candidate(**candidate) for candidate in plain)
    except TypeError as error:
        raise ValueError("n_best is not a list of text, score, log_prob and tokens") from error


def _sections(row: dict[str, Any], name: str) -> tuple[Section, ...] | None:
    plain = row.get(name)
    if plain is None:
        return None
    if not isinstance(plain, list):
        raise ValueError(f"{name} is not a list")
    return tuple(_section(section, name, number) for number, section in enumerate(plain))


def _section(plain: Any, name: str, number: int) -> Section:
    types = {"title": str, "level": int, "text": str}
    if not isinstance(plain, dict) or any(
        not isinstance(plain.get(key), kind) for key, kind in types.items()
    ):
        raise ValueError(f"{name}: section {number} has no title, level or text of the right type")
    return Section(*(plain[key] for key in types))


def _paragraph(plain: Any, number: int) -> ReadParagraph:
    if not isinstance(plain, dict) or not isinstance(plain.get("text"), str):
        raise ValueError(f"paragraph {number} has no text")
    url, attention = plain.get("document_url"), plain.get("attention")
    if not isinstance(url, str | None) or not isinstance(attention, float | int | None):
        raise ValueError(f"paragraph {number} has a document_url or attention of the wrong type")
    if attention is not None and not 0 <= attention < inf:
        raise ValueError(f"paragraph {number} has attention {attention}, not a share")
    return ReadParagraph(plain["text"], url, attention)


def is_parquet(path: Path) -> bool:
    """Whether a file begins like a Parquet file."""
    with path.open("rb") as file:
        return file.read(len(_PARQUET_START)) == _PARQUET_START


def read_summaries(path: Path) -> Iterator[Summary]:
    """Yield the rows of a file in its order. Raises BadSummaries naming the file and the row."""
    for where, row in read_rows(path):
        try:
            yield summary_from_row(row)
        except ValueError as error:
            raise BadSummaries(f"{path}: {where}: {error}") from error


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each row of a file as plain values, after its line number. Raises BadSummaries."""
    return _parquet_rows(path) if is_parquet(path) else _json_rows(path)


def _json_rows(path: Path) -> Iterator[tuple[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield f"line {number}", json.loads(line)
                except (ValueError, RecursionError) as error:  # also bytes that are no UTF-8
                    raise BadSummaries(f"{path}: line {number}: is not JSON: {error}") from error


def _parquet_rows(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with pq.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except pa.ArrowException as error:
        raise BadSummaries(f"{path}: is not a complete Parquet file: {error}") from error


def count_summaries(path: Path) -> int:
    """How many rows a file has, read as fast as can be; 0 for one that cannot be read."""
    if not is_parquet(path):
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowException:
        return 0
