"""Faults of the rows of a shard, which another program may have written. Knows no torch.

Only the columns that were read are checked, by their names. Rows are counted from 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Fault(NamedTuple):
    """What is wrong with a row; `row` is None if it is the type of the whole column."""

    row: int | None
    text: str


def table_fault(table: pa.Table, vocab_size: int | None = None) -> Fault | None:
    """Return the first fault of a table of examples, or None.

    Ids must be less than `vocab_size`, if it is given. Columns that are null as a whole are no
    fault here: graphs and ids are added by later stages.
    """
    for name in table.column_names:
        column = table[name].combine_chunks()
        check = _CHECKS.get(name)
        if pa.types.is_null(column.type) and check is None:
            continue
        if name.endswith("_ids"):
            fault = _ids_fault(column, vocab_size)
        elif name.endswith("_graph"):
            fault = _graph_fault(column)
        else:
            fault = check(column) if check is not None else None
        if fault is not None:
            return Fault(fault.row, f"{name} {fault.text}")
    return _number_fault(table)


def _text_fault(column: pa.Array) -> Fault | None:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return Fault(None, f"holds {column.type}, not text")
    if column.null_count:
        return Fault(_first(_nulls(column)), "is null")
    return None


def _ids_fault(column: pa.Array, vocab_size: int | None) -> Fault | None:
    ids, rows = column, np.arange(len(column))
    while _is_list(ids.type):
        rows, ids = _rows_below(ids, rows), ids.flatten()
        if ids.null_count:
            return Fault(int(rows[_nulls(ids)][0]), "holds a null")
    if not pa.types.is_integer(ids.type):
        return Fault(None, f"holds {ids.type}, not integers")
    values = np.asarray(ids)
    is_wrong = values < 0
    if vocab_size is not None:
        is_wrong |= values >= vocab_size
    but = "" if vocab_size is None else f", but the vocabulary has {vocab_size:,} subwords"
    return _item_fault(rows, is_wrong, lambda at: f"holds the id {values[at]:,}{but}")


def _graph_fault(column: pa.Array) -> Fault | None:
    try:
        source, target, weight = (column.field(name) for name in ("source", "target", "weight"))
    except (KeyError, AttributeError, pa.ArrowInvalid):
        return Fault(None, f"holds {column.type}, not the columns of a graph")
    is_there = ~_nulls(column)
    lists = (source, target, weight)
    if not all(_is_list(one.type) for one in lists):
        return Fault(None, f"holds {column.type}, not the columns of a graph")
    lengths = [np.asarray(one.value_lengths().fill_null(-1)) for one in lists]
    unequal = is_there & ((lengths[0] != lengths[1]) | (lengths[0] != lengths[2]))
    unequal |= is_there & (lengths[0] < 0)
    if unequal.any():
        return Fault(_first(unequal), "has columns of unequal length")
    rows = _rows_below(source, np.arange(len(column)))
    sources, targets, weights = (one.flatten() for one in lists)
    if not all(pa.types.is_integer(one.type) for one in (sources, targets)):
        return Fault(None, f"joins paragraphs by {sources.type} and {targets.type}, not integers")
    if not pa.types.is_floating(weights.type):
        return Fault(None, f"has weights of the type {weights.type}")
    is_wrong = _nulls(sources) | _nulls(targets) | _nulls(weights)
    if fault := _item_fault(rows, is_wrong, lambda _: "has an edge with a null"):
        return fault
    low, high, edges = (np.asarray(one) for one in (sources, targets, weights))
    return _item_fault(
        rows, ~np.isfinite(edges) | (edges < 0), lambda at: f"has an edge of the weight {edges[at]}"
    ) or _item_fault(
        rows, (low < 0) | (low >= high),
        lambda at: f"has the edge {low[at]}-{high[at]}, not from a lower to a higher paragraph",
    )  # fmt: skip


def _paragraphs_fault(column: pa.Array) -> Fault | None:
    if not _is_list(column.type) or not pa.types.is_struct(column.type.value_type):
        return Fault(None, f"holds {column.type}, not paragraphs")
    if column.null_count:
        return Fault(_first(_nulls(column)), "is null")
    rows, below = _rows_below(column, np.arange(len(column))), column.flatten()
    for field in below.type:
        values = below.field(field.name)
        if values.null_count or below.null_count:
            is_wrong = _nulls(values) | _nulls(below)
            return Fault(int(rows[_first(is_wrong)]), f"has a paragraph without {field.name}")
        if field.name == "text" and (fault := _text_fault(values)):
            return Fault(fault.row, f"has texts, and a text {fault.text}")
    return None


def _number_fault(table: pa.Table) -> Fault | None:
    """Rows with another number of lists of ids than of paragraphs, and edges beyond these."""
    counts = {
        name: np.asarray(table[name].combine_chunks().value_lengths().fill_null(-1))
        for name in ("paragraphs", "paragraph_ids")
        if name in table.column_names and _is_list(table[name].type)
    }
    if len(counts) == 2:
        paragraphs, ids = counts["paragraphs"], counts["paragraph_ids"]
        is_wrong = (ids >= 0) & (ids != paragraphs)
        if is_wrong.any():
            row = _first(is_wrong)
            return Fault(row, f"has {paragraphs[row]} paragraphs, but ids of {ids[row]}")
    for count in list(counts.values())[:1]:
        for name in table.column_names:
            if name.endswith("_graph") and not pa.types.is_null(table[name].type):
                targets = table[name].combine_chunks().field("target")
                rows = _rows_below(targets, np.arange(len(count)))
                is_wrong = np.asarray(targets.flatten()) >= count[rows]
                if is_wrong.any():
                    row = int(rows[_first(is_wrong)])
                    text = f"{name} has an edge to a paragraph beyond the last of {count[row]}"
                    return Fault(row, text)
    return None


def _item_fault(rows: Ints, is_wrong: Bools, text: Callable[[int], str]) -> Fault | None:
    """Return the fault of the first wrong item, or None; `rows` holds the row of each item."""
    if not is_wrong.any():
        return None
    at = _first(is_wrong)
    return Fault(int(rows[at]), text(at))


def _rows_below(lists: pa.Array, rows: Ints) -> Ints:
    """The row of each item of the lists."""
    return rows[np.asarray(pc.list_parent_indices(lists), dtype=np.int64)]


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _nulls(column: pa.Array) -> Bools:
    return np.asarray(column.is_null())


def _first(mask: Bools) -> int:
    return int(np.argmax(mask))


_CHECKS: dict[str, Callable[[pa.Array], Fault | None]] = {
    **dict.fromkeys(("id", "title", "lead"), _text_fault),
    "paragraphs": _paragraphs_fault,
}
