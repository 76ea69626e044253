"""Documents x wanted URLs -> the paragraphs that recur: a Beam transform and its files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import apache_beam as beam

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import ReadFiles, RowType, WriteParts
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.recurring.lines import PageLines, recurring_lines, site_key, text_key

STAGE = "recurring"
MAX_ARTICLES = 64  # that are named with a page; more make no difference


@dataclass(frozen=True, kw_only=True)
class CountLines:
    """Shards of `documents/` and `wanted/` -> shards of recurring lines, recorded as parts.

    Each part has a range of the keys of paragraphs. Only hashes are shuffled, no text.
    """

    writer: StageWriter
    document_paths: list[str]
    wanted_paths: list[str]
    minimum: int

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        pages = (
            {
                "lines": pipeline | "Documents" >> ReadFiles(self.document_paths, read=read_lines),
                "articles": pipeline | "Wanted" >> ReadFiles(self.wanted_paths, read=read_wanting),
            }
            | "Join on URL" >> beam.CoGroupByKey()
            | "Divide" >> beam.FlatMap(self._divided)
        )
        _ = {"pages": pages} | WriteParts(
            {"pages": RowType(PageLines, lambda page: page)},
            stage=STAGE,
            indexes=pending,
            write=self.write,
            parts=parts,
        )

    def _divided(
        self, element: tuple[int, dict[str, Iterable[Any]]]
    ) -> Iterator[tuple[int, PageLines]]:
        """The lines of a page that articles want, by the part that counts them."""
        page, groups = element
        articles = sorted(set(groups["articles"]))[:MAX_ARTICLES]
        captures = sorted(groups["lines"])
        if not articles or not captures:
            return
        by_part: dict[int, set[int]] = {}
        for _, data in captures:
            for line in unpack(data, list[int]):
                by_part.setdefault(line % self.writer.part_count, set()).add(line)
        for part, lines in by_part.items():
            yield part, PageLines(page, captures[0][0], articles, sorted(lines))

    def write(self, index: int, rows: dict[str, Iterator[PageLines]]) -> PartResult:
        """Write a shard of recurring lines."""
        with self.writer.part(index) as part:
            for line in recurring_lines(rows["pages"], self.minimum):
                part.write(line)
        return part.result()


def read_lines(path: str) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Yield (key of the URL, (key of the site, packed keys of the paragraphs)) of a shard."""
    for row in read_rows(path, ["url", "paragraphs"]):
        lines = sorted(set(map(text_key, row["paragraphs"])))
        yield text_key(row["url"]), (site_key(row["url"]), pack(lines))


def read_wanting(path: str) -> Iterator[tuple[int, int]]:
    """Yield (key of a wanted URL, key of an article that wants it) of a shard."""
    for row in read_rows(path, ["url", "article"]):
        yield text_key(row["url"]), text_key(row["article"])


@cache
def load_lines(paths: tuple[str, ...]) -> frozenset[int]:
    """Return the keys of the recurring lines in some shards."""
    return frozenset(row["line"] for path in paths for row in read_rows(path, ["line"]))
