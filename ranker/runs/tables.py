"""Rows of cells as text for a terminal, as Markdown and as CSV."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from typing import Any


def shown_p(p: float) -> str:
    """Return a p-value to four digits, a dash for NaN; the least that a test can give is no 0."""
    if math.isnan(p):
        return "-"
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"


def text_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines for a terminal: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; the first row is its head."""
    head, *body = ("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body]) + "\n"


def csv_of(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV; NaN is an empty cell."""
    text = io.StringIO()
    cells = (["" if isinstance(v, float) and math.isnan(v) else v for v in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()
