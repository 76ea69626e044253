"""A few of the dropped rows of every reason, as examples for the report."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_each, read_records, read_tables
from wikisum.pipeline.engine.workspace import PartResult, Workspace
from wikisum.pipeline.records import Dropped
from wikisum.pipeline.report.names import LINES, write_names

SAMPLE_ROWS = 5


def samples(rows: Iterable[Dropped], size: int = SAMPLE_ROWS) -> list[Dropped]:
    """Up to `size` rows of each kind, stage and reason, sorted by these.

    Those whose digests are least: as good as drawn by lot, the same whatever order they come in,
    and samples of samples are those of the whole.
    """
    kept: dict[tuple[str, str, str], list[tuple[bytes, Dropped]]] = {}
    for row in rows:
        group = kept.setdefault((row.kind, row.stage, row.reason), [])
        digest = blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
        if len(group) < size or digest < group[-1][0]:
            group.append((digest, row))
            group.sort(key=lambda pair: pair[0])
            del group[size:]
    return [row for key in sorted(kept) for _, row in kept[key]]


@dataclass(frozen=True)
class ReadDropped:
    """Files of dropped rows -> their samples, and the recurring lines that most articles lost.

    They are written to files with the name of the first.
    """

    writer: StageWriter

    def __call__(self, index: int, paths: Sequence[str]) -> PartResult:
        whole = (files.join(self.writer.out, path) for path in paths)
        lines: set[tuple[str | None, str | None]] = set()
        rows = (row for path in whole for row in read_records(Dropped, path))
        with self.writer.part_like(index, paths[0]) as part:
            for row in samples(_noting_lines(rows, lines)):
                part.write(row)
            write_names(part, {LINES: Counter(line or "" for _, line in lines)})
        return part.result()


def _noting_lines(
    rows: Iterable[Dropped], lines: set[tuple[str | None, str | None]]
) -> Iterator[Dropped]:
    """Yield the rows; add the article and the text of each recurring line to `lines`."""
    for row in rows:
        if row.reason == "recurring_line":
            lines.add((row.article, row.detail))
        yield row


def read_samples(
    workspace: Workspace, paths: list[str], article_paths: list[str]
) -> list[dict[str, Any]]:
    """The samples of all files as plain rows; `title` is that of the article, where it has one."""
    found = read_each(lambda path: list(read_records(Dropped, path)), map(workspace.path, paths))
    rows = samples(row for rows in found for row in rows)
    titles = _titles(workspace, article_paths, {row.article for row in rows if row.article})
    return [{**row._asdict(), "title": titles.get(row.article or "")} for row in rows]


def _titles(workspace: Workspace, paths: list[str], ids: set[str]) -> dict[str, str]:
    sought = pa.array(sorted(ids), pa.string())  # an empty list would be of no type

    def titles_in(path: str) -> dict[str, str]:
        tables = read_tables(path, ["id", "title"])
        found = (table.filter(ds.field("id").isin(sought)).to_pydict() for table in tables)
        return {k: v for columns in found for k, v in zip(*columns.values(), strict=True)}

    titles: dict[str, str] = {}
    for some in read_each(titles_in, map(workspace.path, paths)):
        titles.update(some)
    return titles
