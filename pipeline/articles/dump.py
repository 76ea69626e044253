"""Dump -> `articles/`: every part of the dump is read, parsed and written by one worker."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.titles import article_id, normalize_title, split_of
from wikisum.crawl.wikipedia.dump import (
    Page,
    bz2_stream_offsets,
    index_offsets,
    open_dump,
    read_pages,
    read_streams,
)
from wikisum.crawl.wikipedia.site import Site
from wikisum.crawl.wikipedia.wikitext import parse_article
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.shard import in_category, is_full, is_selected, write_article
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import Article, Section

MIN_PART_BYTES, MAX_PART_BYTES = 1 << 20, 16 << 20  # compressed
PARTS = 64  # of a dump of 64 MiB to 1 GiB: enough to keep all workers busy to the end
_UNINDEXED_SCAN_BYTES = 1 << 20


class DumpRange(NamedTuple):
    """Bytes [start, end) of a dump file; all of it, from its head on, if `start` is None."""

    name: str
    path: str
    start: int | None
    end: int | None
    work: int


def is_index(file: InputFile) -> bool:
    """Whether a file is the index of a multistream dump, by its name."""
    return "-index" in file.name and ".txt" in file.name


def plan_parts(inputs: list[InputFile], limit: int | None) -> list[list[DumpRange]]:
    """What each part reads: whole bz2 streams of about 1/64 of the dump (1 to 16 MiB), or a file.

    With a limit, one part reads in order until it has enough. An index belongs to the dump file
    whose name it shares up to `-index`; without one, the streams of a bz2 file are searched for.
    """
    index_by_stem = {f.name.split("-index")[0]: f for f in inputs if is_index(f)}
    ranges: list[DumpRange] = []
    dump = [f for f in inputs if not is_index(f)]
    part_bytes = min(max(sum(f.size_bytes for f in dump) // PARTS, MIN_PART_BYTES), MAX_PART_BYTES)
    for file in dump:
        index = index_by_stem.get(file.name.split(".xml")[0])
        ranges.extend(_ranges(file, index, part_bytes) if limit is None else [_whole(file)])
    return [ranges] if limit is not None else [[r] for r in ranges]


def _whole(file: InputFile) -> DumpRange:
    return DumpRange(file.name, file.path, None, None, file.size_bytes)


def _ranges(file: InputFile, index: InputFile | None, part_bytes: int) -> list[DumpRange]:
    if index is not None:
        with files.open_input(index.path) as raw:
            offsets = [0, *index_offsets(raw)]
    elif file.size_bytes > _UNINDEXED_SCAN_BYTES and not files.is_remote(file.path):
        with files.open_input(file.path) as raw:
            offsets = bz2_stream_offsets(raw)
    else:
        return [_whole(file)]
    bounds: list[int] = []
    for offset in sorted(set(offsets)):
        if offset < file.size_bytes and (not bounds or offset - bounds[-1] >= part_bytes):
            bounds.append(offset)
    if len(bounds) < 2:
        return [_whole(file)]
    ends = [*bounds[1:], file.size_bytes]
    return [
        DumpRange(file.name, file.path, start, end, end - start)
        for start, end in zip(bounds, ends, strict=True)
    ]


def read_range(part: DumpRange) -> Iterator[Page | BadArticle]:
    """Yield the pages in a range of a dump file, and what is wrong with it."""
    with files.open_input(part.path) as raw:
        if part.start is None:
            yield from read_pages(open_dump(raw))
        else:
            yield from read_streams(raw, part.start, part.end)


@dataclass(frozen=True)
class ReadDump:
    """One part of the dump -> one shard of `articles/` and one of `dropped/`."""

    writer: StageWriter
    settings: ArticleSettings
    site: Site
    templates: Callable[[], Mapping[str, str]] | None = None

    def __call__(self, index: int, ranges: list[DumpRange]) -> PartResult:
        with self.writer.part(index) as part:
            for source in ranges:
                for page in read_range(source):
                    if is_full(part, self.settings):
                        break
                    self._take(page, source.name, part)
                part.ticker.add(work=source.work)
        return part.result(language=self.site.language)

    def _take(self, page: Page | BadArticle, file: str, part: PartWriter) -> None:
        part.counts["pages_in"] += 1
        if isinstance(page, BadArticle):
            part.drop("record", page.reason, file=file, offset=page.offset, detail=str(page))
            return
        if skip := self._skip_reason(page):
            part.counts[f"skipped_{skip}"] += 1
            return
        try:
            article, bad_urls = self._article(page)
        except BadArticle as error:
            part.drop(
                "article",
                error.reason,
                article=article_id(page.title),
                file=file,
                offset=page.offset,
                detail=f"{page.title}: {error}",
            )
            return
        if not in_category(article.categories, self.settings):
            part.counts["skipped_not_selected"] += 1
            return
        write_article(part, article, bad_urls, file)

    def _skip_reason(self, page: Page) -> str | None:
        """Why a page of the dump is not counted as an article at all, or None."""
        if page.namespace != 0:
            return "namespace"
        if page.redirect is not None:
            return "redirect"
        return None if is_selected(page.title, self.settings) else "not_selected"

    def _article(self, page: Page) -> tuple[Article, list[tuple[str, str]]]:
        """The article of a page, and its unusable citations as (URL, reason)."""
        templates = self.templates() if self.templates else None
        parsed = parse_article(page.title, page.text, self.site, templates)
        title = normalize_title(page.title)
        article = Article(
            id=article_id(title),
            title=title,
            url=f"https://{self.site.language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}",
            lead=parsed.lead,
            sections=[Section(*s) for s in parsed.sections],
            citations=parsed.citations,
            categories=parsed.categories,
            unknown_templates=sorted(parsed.unknown_templates),
            split=split_of(title, self.settings.fractions),
        )
        return article, parsed.bad_citations
