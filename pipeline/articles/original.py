"""The original WikiSum's articles and their URLs -> `articles/`, shard by shard.

The files do not say which URLs are cited and which a search found: all of an article's are in
`citations`, and are wanted as `original`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wikisum.crawl.errors import BadRecord, DataError
from wikisum.crawl.original.tfrecord import is_tfrecord
from wikisum.crawl.original.wikisum_files import (
    Content,
    Refs,
    read_content,
    read_refs,
    shard_of,
    split_of_shard,
)
from wikisum.crawl.titles import article_id, normalize_title, split_of
from wikisum.crawl.urls import canonical_urls
from wikisum.pipeline.articles.settings import SPLIT_TENTHS, ArticleSettings
from wikisum.pipeline.articles.shard import is_full, is_selected, write_article
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import Article, Section

LANGUAGE = "en"
SECTION_LEVEL = 2  # the files have no levels


class ShardFiles(NamedTuple):
    """The articles of a shard and their URLs."""

    content: InputFile
    urls: InputFile

    @property
    def work(self) -> int:
        return self.content.size_bytes + self.urls.size_bytes


def is_original(inputs: list[InputFile]) -> bool:
    """Whether `--articles` names original files, by the form of the first and the last.

    Raises ValueError if these two differ.
    """
    ends = [inputs[0], inputs[-1]] if inputs else []
    kinds = []
    for file in ends:
        with files.open_input(file.path) as raw:
            kinds.append(is_tfrecord(raw.read(16)))
    if len(set(kinds)) > 1:
        names = (ends[kinds.index(kind)].name for kind in (True, False))
        raise ValueError(
            "--articles names both {}, a file of TFRecords, and {}, which is not".format(*names)
        )
    return any(kinds)


def pair_files(
    contents: list[InputFile], urls: list[InputFile], settings: ArticleSettings
) -> list[list[ShardFiles]]:
    """What each part reads: the files of a shard, or, with a limit, those of all shards.

    Files belong together if their names have the same shard number, or if there is one of each.
    Raises ValueError for a file without a counterpart.
    """
    by_shard = {shard_of(file.name): file for file in urls}
    pairs = []
    for file in contents:
        shard = shard_of(file.name)
        if shard is None and settings.split in SPLIT_TENTHS:
            raise ValueError(
                f"{file.name} has no shard number (-00000-of-01000), which "
                f"--split {settings.split} needs: choose another split"
            )
        fellow = urls[0] if len(contents) == len(urls) == 1 else by_shard.get(shard)
        if fellow is None:
            raise ValueError(f"--urls names no file for {file.name}")
        pairs.append(ShardFiles(file, fellow))
    return [pairs] if settings.limit is not None else [[pair] for pair in pairs]


@dataclass(frozen=True)
class ReadWikisum:
    """The files of some shards -> one shard of `articles/` and one of `dropped/`."""

    writer: StageWriter
    settings: ArticleSettings

    def __call__(self, index: int, pairs: list[ShardFiles]) -> PartResult:
        with self.writer.part(index) as part:
            for pair in pairs:
                if is_full(part, self.settings):
                    break
                self._read(pair, part)
                part.ticker.add(work=pair.work)
        return part.result(language=LANGUAGE)

    def _read(self, pair: ShardFiles, part: PartWriter) -> None:
        refs_by_url = {refs.article_url: refs for refs in _refs(pair.urls, part)}
        seen: set[str] = set()
        with files.open_input(pair.content.path) as raw:
            for content in read_content(raw):
                if is_full(part, self.settings):
                    break
                part.counts["pages_in"] += 1
                if isinstance(content, BadRecord):
                    _drop(content, pair.content.name, part)
                else:
                    seen.add(content.url)
                    self._take(content, refs_by_url.get(content.url), pair.content.name, part)
        if self.settings.limit is None:
            for refs in (r for r in refs_by_url.values() if r.article_url not in seen):
                part.drop(
                    "record",
                    "unknown_article",
                    file=pair.urls.name,
                    offset=refs.offset,
                    detail=refs.article_url,
                )

    def _take(self, content: Content, refs: Refs | None, file: str, part: PartWriter) -> None:
        if not is_selected(content.title, self.settings):
            part.counts["skipped_not_selected"] += 1
            return
        title = normalize_title(content.title)
        identity = article_id(title)
        if not content.lead:
            detail = f"{title} has no text in its first section"
            part.drop(
                "article", "no_lead", article=identity, file=file, offset=content.offset,
                detail=detail,
            )  # fmt: skip
            return
        part.counts["articles_without_refs"] += refs is None
        citations, bad_urls = canonical_urls(refs.urls if refs else [])
        article = Article(
            id=identity,
            title=title,
            url=content.url,
            lead=content.lead,
            sections=[Section(heading, SECTION_LEVEL, text) for heading, text in content.sections],
            citations=citations,
            split=self._split(title, file),
        )
        write_article(part, article, bad_urls, file)

    def _split(self, title: str, name: str) -> str:
        tenths, shard = SPLIT_TENTHS.get(self.settings.split or ""), shard_of(name)
        if tenths and shard:
            return split_of_shard(shard, tenths)
        return split_of(title, self.settings.fractions)


def _refs(file: InputFile, part: PartWriter) -> Iterator[Refs]:
    """The URLs of each article that a file lists; what is wrong with the file is dropped."""
    with files.open_input(file.path) as raw:
        for refs in read_refs(raw):
            if isinstance(refs, Refs):
                yield refs
            else:
                _drop(refs, file.name, part)


def _drop(error: DataError, file: str, part: PartWriter) -> None:
    part.drop("record", error.reason, file=file, offset=error.offset, detail=str(error))
