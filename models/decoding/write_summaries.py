"""Summaries to a file: JSON Lines or Parquet, whole when it is there, gone on with after a kill."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.models.decoding.summary_files import Summary
from wikisum.ranker.runs.atomic import atomic_write


def write_summaries(
    out: Path, key: str, group_rows: Sequence[int], rows_from: Callable[[int], Iterator[Summary]]
) -> int:
    """Write the rows of all row groups; gives their number.

    What is done stands beside `out` in a hidden file named by `key`, a line a row; a run that was
    killed goes on at the first row group that is not whole there. `rows_from` gives the rows from
    a row group on. A name that ends in `.parquet` gets Parquet.
    """
    part = out.with_name(f".{out.name}.{key}.part")
    out.parent.mkdir(parents=True, exist_ok=True)
    groups, done, size = _whole_groups(part, group_rows)
    with part.open("ab") as file:
        file.truncate(size)
        for row in rows_from(groups):
            line = json.dumps(row.plain(), ensure_ascii=False)
            file.write(f"{line}\n".encode())
            done += 1
    if out.suffix == ".parquet":
        with part.open(encoding="utf-8") as lines:
            table = pa.Table.from_pylist([json.loads(line) for line in lines])
        atomic_write(out, lambda whole: pq.write_table(table, whole, compression="zstd"))
        part.unlink()
    else:
        part.replace(out)
    return done


def _whole_groups(part: Path, group_rows: Sequence[int]) -> tuple[int, int, int]:
    """(row groups, rows, bytes) that are whole in what a killed run left."""
    if not part.exists():
        return 0, 0, 0
    with part.open("rb") as file:
        groups = rows = size = 0
        for count in group_rows:
            lines = _some_lines(file, count)
            if len(lines) < count:
                break
            groups, rows, size = groups + 1, rows + count, size + sum(map(len, lines))
    return groups, rows, size


def _some_lines(file: BinaryIO, count: int) -> list[bytes]:
    lines = [file.readline() for _ in range(count)]
    return [line for line in lines if line.endswith(b"\n")]
