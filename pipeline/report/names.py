"""The most frequent categories of articles, templates that their texts lack, recurring lines."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows, read_tables
from wikisum.pipeline.engine.workspace import PartResult, Workspace

COLUMNS = ("categories", "unknown_templates")
LINES = "recurring_lines"
MAX_NAMES_PER_SHARD = 1_000
SHOWN_NAMES = 30


class NameCount(NamedTuple):
    """In how many articles of a shard a name stands in a column."""

    column: str
    name: str
    articles: int


@dataclass(frozen=True)
class CountNames:
    """One shard of articles -> its most frequent names in each of `COLUMNS`."""

    writer: StageWriter

    def __call__(self, index: int, path: str) -> PartResult:
        counts: dict[str, Counter[str]] = {column: Counter() for column in COLUMNS}
        for table in read_tables(files.join(self.writer.out, path), list(COLUMNS)):
            for column, counter in counts.items():
                for names in table[column].to_pylist():
                    counter.update(set(names or ()))
        return _write(self.writer, index, path, counts)


@dataclass(frozen=True)
class CountDroppedLines:
    """One file of dropped rows -> the recurring lines that were dropped from most articles."""

    writer: StageWriter

    def __call__(self, index: int, path: str) -> PartResult:
        rows = read_rows(files.join(self.writer.out, path), ["reason", "article", "detail"])
        found = {(r["article"], r["detail"]) for r in rows if r["reason"] == "recurring_line"}
        return _write(self.writer, index, path, {LINES: Counter(line for _, line in found)})


def _write(
    writer: StageWriter, index: int, path: str, counts: dict[str, Counter[str]]
) -> PartResult:
    with writer.part_like(index, path) as part:
        for column, counter in counts.items():
            for name, articles in most_frequent(counter, MAX_NAMES_PER_SHARD):
                part.write(NameCount(column, name, articles))
    return part.result()


def most_frequent(counts: Counter[str], size: int) -> list[tuple[str, int]]:
    """Return the `size` most frequent names with their counts; equal ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]


def read_names(workspace: Workspace, paths: list[str]) -> dict[str, dict[str, int]]:
    """Return the most frequent names of each column with their numbers of articles.

    A name that is not among the first thousand of a shard is not counted there.
    """
    counts: dict[str, Counter[str]] = {column: Counter() for column in (*COLUMNS, LINES)}
    for path in paths:
        for row in read_rows(workspace.path(path)):
            counts[row["column"]][row["name"]] += row["articles"]
    return {column: dict(most_frequent(c, SHOWN_NAMES)) for column, c in counts.items()}
