"""The most frequent categories of articles, templates that their texts lack, recurring lines."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.shards import read_each, read_rows, tables_of
from wikisum.pipeline.engine.workspace import PartResult, Workspace

COLUMNS = ("categories", "unknown_templates")
LINES = "recurring_lines"
MAX_NAMES_PER_PART = 1_000
SHOWN_NAMES = 30


class NameCount(NamedTuple):
    """In how many articles of some shards a name stands in a column."""

    column: str
    name: str
    articles: int


@dataclass(frozen=True)
class CountNames:
    """Shards of articles -> their most frequent names in each of `COLUMNS`."""

    writer: StageWriter

    def __call__(self, index: int, paths: Sequence[str]) -> PartResult:
        counts: dict[str, Counter[str]] = {column: Counter() for column in COLUMNS}
        for table in tables_of(self.writer.out, paths, list(COLUMNS)):
            for column, counter in counts.items():
                for names in table[column].to_pylist():
                    counter.update(set(names or ()))
        with self.writer.part_like(index, paths[0]) as part:
            write_names(part, counts)
        return part.result()


def write_names(part: PartWriter, counts: Mapping[str, Counter[str]]) -> None:
    """Write the most frequent names of each column."""
    for column, counter in counts.items():
        for name, articles in most_frequent(counter, MAX_NAMES_PER_PART):
            part.write(NameCount(column, name, articles))


def most_frequent(counts: Counter[str], size: int) -> list[tuple[str, int]]:
    """Return the `size` most frequent names with their counts; equal ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]


def read_names(workspace: Workspace, paths: list[str]) -> dict[str, dict[str, int]]:
    """Return the most frequent names of each column with their numbers of articles.

    A name that is not among the first thousand of a part is not counted there.
    """
    counts: dict[str, Counter[str]] = {column: Counter() for column in (*COLUMNS, LINES)}
    for rows in read_each(lambda path: list(read_rows(path)), map(workspace.path, paths)):
        for row in rows:
            counts[row["column"]][row["name"]] += row["articles"]
    return {column: dict(most_frequent(c, SHOWN_NAMES)) for column, c in counts.items()}
