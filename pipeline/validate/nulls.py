"""Nulls in an example where no reader takes one."""

from collections.abc import Iterator
from typing import Any

ID_COLUMNS = ("title_ids", "lead_ids", "paragraph_ids")
GRAPH_COLUMNS = ("similarity_graph", "discourse_graph")


def null_faults(row: dict[str, Any], made: frozenset[str]) -> Iterator[str]:
    """The columns of an example that are null or hold one, each with its first null.

    Of the graphs and the ids, those in `made` must be there; so must all ids if there are any.
    """
    if any(row[name] is not None for name in ID_COLUMNS):
        made = made.union(ID_COLUMNS)
    optional = {*ID_COLUMNS, *GRAPH_COLUMNS} - made
    for name, value in row.items():
        if value is None and name not in optional:
            yield f"{name}: is null"
        elif (place := _null_place(value)) is not None:
            yield f"{name}: {place.removeprefix('.')} is null"


def _null_place(value: Any) -> str | None:
    """The place of the first null inside a value, such as `[3].text`, or None."""
    if isinstance(value, dict):
        return _first_place((f".{key}", inner) for key, inner in value.items())
    if not isinstance(value, list):
        return None
    if None in value:
        return f"[{value.index(None)}]"
    if not value or not isinstance(value[0], dict | list):  # long lists of numbers end here
        return None
    return _first_place((f"[{index}]", inner) for index, inner in enumerate(value))


def _first_place(items: Iterator[tuple[str, Any]]) -> str | None:
    """The place of the first null in named values, which may be null themselves."""
    for place, value in items:
        if value is None:
            return place
        if (inside := _null_place(value)) is not None:
            return place + inside
    return None
