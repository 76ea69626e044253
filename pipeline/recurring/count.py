"""Documents x wanted URLs -> the paragraphs that recur: a flow and its files."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.joins.flow import Flow, Groups, Named, Placed, Source, Step, Target, placed_by
from wikisum.pipeline.recurring.lines import PageLines, recurring_lines, site_key, text_key

STAGE = "recurring"
MAX_ARTICLES = 64  # that are named with a page; more make no difference


class LinesOfCapture(NamedTuple):
    """The packed keys of a capture's paragraphs, with the keys of its URL and its site."""

    page: int
    site: int
    lines: bytes


@dataclass(frozen=True, kw_only=True)
class CountLines:
    """Shards of `documents/` and `wanted/` -> shards of recurring lines.

    Each part has a range of the keys of paragraphs. Only hashes are grouped, no text.
    """

    writer: StageWriter
    document_paths: list[str]
    wanted_paths: list[str]
    minimum: int

    def flow(self, range_count: int) -> Flow:
        """The join by pages in a number of ranges, and the parts by paragraphs."""

        placed = placed_by(itemgetter(0), range_count)  # the key of the page
        return Flow(
            sources=(
                Source("documents", self.document_paths, ("lines",), read_lines),
                Source("wanted", self.wanted_paths, ("articles",), read_wanting),
            ),
            steps=(
                Step(
                    label="pages",
                    count=range_count,
                    takes={"lines": placed, "articles": placed},
                    gives=("pages",),
                    join=_join,
                ),
            ),
            target=Target(
                part_count=self.writer.part_count,
                takes={"pages": self._divided},
                types={"pages": RowType(PageLines, lambda page: page)},
                write=self.write,
            ),
        )

    def _divided(self, page: PageLines) -> Iterator[Placed]:
        """The lines of a page by the part that counts them."""
        by_part: dict[int, list[int]] = defaultdict(list)
        for line in page.lines:
            by_part[line % self.writer.part_count].append(line)
        yield from ((part, page._replace(lines=lines)) for part, lines in by_part.items())

    def write(self, index: int, rows: dict[str, Iterator[PageLines]]) -> PartResult:
        """Write a shard of recurring lines."""
        with self.writer.part(index) as part:
            for line in recurring_lines(rows["pages"], self.minimum):
                part.write(line)
        return part.result()


def _join(groups: Groups) -> Iterator[Named]:
    """Yield the lines of each page that articles want."""
    articles: dict[int, set[int]] = defaultdict(set)
    for data in groups["articles"]:
        page, article = unpack(data, tuple[int, int])
        articles[page].add(article)
    captures: dict[int, list[LinesOfCapture]] = defaultdict(list)
    for data in groups["lines"]:
        capture = unpack(data, LinesOfCapture)
        if capture.page in articles:
            captures[capture.page].append(capture)
    for page, some in captures.items():
        lines = {line for capture in some for line in unpack(capture.lines, list[int])}
        wanting = sorted(articles[page])[:MAX_ARTICLES]
        yield "pages", PageLines(page, min(some).site, wanting, sorted(lines))


def read_lines(path: str) -> Iterator[Named]:
    """Yield the `lines` of the documents of a shard."""
    for row in read_rows(path, ["url", "paragraphs"]):
        lines = pack(sorted(set(map(text_key, row["paragraphs"]))))
        yield "lines", LinesOfCapture(text_key(row["url"]), site_key(row["url"]), lines)


def read_wanting(path: str) -> Iterator[Named]:
    """Yield pairs of the key of a wanted URL and the key of an article, as `articles`."""
    for row in read_rows(path, ["url", "article"]):
        yield "articles", (text_key(row["url"]), text_key(row["article"]))


@cache
def load_lines(paths: tuple[str, ...]) -> frozenset[int]:
    """Return the keys of the recurring lines in some shards."""
    return frozenset(row["line"] for path in paths for row in read_rows(path, ["line"]))
