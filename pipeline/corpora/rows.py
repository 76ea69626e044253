"""Rows of JSON Lines, JSON, CSV, TSV and Parquet files as dictionaries."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.crawl.errors import BadLine, DataError
from wikisum.pipeline.corpora.containers import text_lines

Row = tuple[int, dict[str, Any] | DataError]
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def read_rows(name: str, raw: BinaryIO) -> Iterator[Row]:
    """Yield the byte offset and the row of each entry of a file, by the suffix of its name.

    The offset in a Parquet file or a JSON list is the index of the row. A row that cannot be read
    is a BadLine (`bad_line`).
    """
    if name.endswith(".parquet"):
        yield from _parquet(name, raw)
    elif name.endswith((".csv", ".tsv")):
        yield from _csv(raw, "\t" if name.endswith(".tsv") else ",")
    elif name.endswith(".json"):
        yield from _json(name, raw)
    else:
        yield from _json_lines(raw)


def _json_lines(raw: BinaryIO) -> Iterator[Row]:
    for number, (offset, line) in enumerate(text_lines(raw), 1):
        if line.strip():
            yield offset, _object(line, f"line {number}", offset)


def _object(text: str, where: str, offset: int) -> dict[str, Any] | DataError:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        detail = f"{where} is not JSON: {error.msg} (character {error.pos + 1})"
        return BadLine("bad_line", detail, offset)
    except RecursionError:
        return BadLine("bad_line", f"{where} is nested too deeply", offset)
    return _checked(value, where, offset)


def _checked(value: Any, where: str, offset: int) -> dict[str, Any] | DataError:
    if isinstance(value, dict):
        return value
    return BadLine("bad_line", f"{where} is not a JSON object", offset)


def _json(name: str, raw: BinaryIO) -> Iterator[Row]:
    """The objects of a JSON list; files of that name that hold JSON Lines are read as these."""
    data = raw.read()
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        if b"\n" in data.strip():
            yield from _json_lines(io.BytesIO(data))
        else:
            yield 0, BadLine("bad_line", f"{name} is not JSON: {error}", 0)
        return
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        yield index, _checked(item, f"item {index}", index)


def _csv(raw: BinaryIO, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    text = io.TextIOWrapper(raw, "utf-8-sig", "replace", newline="")
    reader = csv.DictReader((line.replace("\0", "") for line in text), delimiter=delimiter)
    index = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield index, BadLine("bad_line", f"line {reader.line_num}: {error}", index)
        else:
            if row is None:
                return
            fault = None in row or None in row.values()
            where = f"line {reader.line_num} has another number of columns than the header"
            yield index, BadLine("bad_line", where, index) if fault else row
        index += 1


def _parquet(name: str, raw: BinaryIO) -> Iterator[Row]:
    index = 0
    try:
        file = pq.ParquetFile(raw if raw.seekable() else pa.BufferReader(raw.read()))
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group).to_pylist():
                yield index, row
                index += 1
    except (pa.ArrowException, OSError) as error:
        detail = f"{name} from row {index} on: {str(error).splitlines()[0]}"
        yield index, BadLine("bad_line", detail, index)


def text_of(row: dict[str, Any], column: str) -> str:
    """Return a text column of a row. Raises BadLine (`missing_column`) if it is not text."""
    value = row.get(column)
    if not isinstance(value, str):
        kind = "missing" if value is None else type(value).__name__
        raise BadLine("missing_column", f"{column!r} is {kind}, not text")
    return value


def texts_of(row: dict[str, Any], column: str) -> list[str]:
    """Return a column of a row that holds a text or a list of texts. Raises BadLine."""
    value = row.get(column)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return [text_of(row, column)]
