"""The original WikiSum's articles and their URLs -> `articles/`, shard by shard.

The files do not tell which URLs are cited and which a search found: all of an article stand in
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
from wikisum.crawl.titles import article_id, normalise_title, split_of
from wikisum.crawl.urls import canonical_urls
from wikisum.pipeline.articles.shard import STAGE, ArticleShard, is_selected
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import SPLIT_TENTHS, ArticleSettings
from wikisum.pipeline.records import Article, Dropped, Section

LANGUAGE = "en"
SECTION_LEVEL = 2  # the files tell none


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
        raise ValueError("--articles names both {}, a file of TFRecords, and {}".format(*names))
    return any(kinds)


def pair_files(
    contents: list[InputFile], urls: list[InputFile], settings: ArticleSettings
) -> list[list[ShardFiles]]:
    """What each part reads: the files of a shard, or with a limit those of all, one by one.

    Files belong together if their names tell the same shard, or if there is one of each. Raises
    ValueError naming a file whose fellow is not there.
    """
    by_shard = {shard_of(file.name): file for file in urls}
    pairs = []
    for file in contents:
        shard = shard_of(file.name)
        if shard is None and settings.split in SPLIT_TENTHS:
            raise ValueError(
                f"{file.name} tells no shard (-00000-of-01000), by which --split {settings.split} "
                "goes: name another split"
            )
        fellow = urls[0] if len(contents) == len(urls) == 1 else by_shard.get(shard)
        if fellow is None:
            raise ValueError(f"--urls names no file for {file.name}")
        pairs.append(ShardFiles(file, fellow))
    return [pairs] if settings.limit is not None else [[pair] for pair in pairs]


@dataclass(frozen=True)
class ReadWikisum:
    """The files of some shards -> one shard of `articles/` and one of `dropped/`."""

    out: str
    part_count: int
    settings: ArticleSettings
    metadata: dict[str, str]
    ticker: Ticker

    def __call__(self, index: int, pairs: list[ShardFiles]) -> PartResult:
        with ArticleShard(
            self.out, index, self.part_count, self.settings, self.metadata, self.ticker
        ) as shard:
            for pair in pairs:
                if shard.is_full:
                    break
                self._read(pair, shard)
                self.ticker.add(work=pair.work)
        return shard.result({"language": LANGUAGE})

    def _read(self, pair: ShardFiles, shard: ArticleShard) -> None:
        refs_by_url = {refs.article_url: refs for refs in _refs(pair.urls, shard)}
        seen: set[str] = set()
        with files.open_input(pair.content.path) as raw:
            for content in read_content(raw):
                if shard.is_full:
                    break
                shard.counts["pages_in"] += 1
                if isinstance(content, BadRecord):
                    shard.drop(_dropped(content, pair.content.name))
                else:
                    seen.add(content.url)
                    self._take(content, refs_by_url.get(content.url), pair.content, shard)
        if self.settings.limit is None:
            for refs in (r for r in refs_by_url.values() if r.article_url not in seen):
                shard.drop(
                    Dropped("record", None, None, STAGE, "unknown_article", pair.urls.name,
                            refs.offset, refs.article_url)
                )  # fmt: skip

    def _take(
        self, content: Content, refs: Refs | None, file: InputFile, shard: ArticleShard
    ) -> None:
        if not is_selected(content.title, self.settings):
            shard.counts["skipped_not_selected"] += 1
            return
        title = normalise_title(content.title)
        identity = article_id(title)
        if not content.lead:
            shard.drop(
                Dropped("article", identity, None, STAGE, "no_lead", file.name, content.offset,
                        f"{title} has no text in its first section")
            )  # fmt: skip
            return
        shard.counts["articles_without_refs"] += refs is None
        cited, bad = canonical_urls(refs.urls if refs else [])
        article = Article(
            identity,
            title,
            content.url,
            content.lead,
            [Section(heading, SECTION_LEVEL, text) for heading, text in content.sections],
            cited,
            self._split(title, file.name),
        )
        shard.write(article, bad, file.name)

    def _split(self, title: str, name: str) -> str:
        tenths, shard = SPLIT_TENTHS.get(self.settings.split or ""), shard_of(name)
        if tenths and shard:
            return split_of_shard(shard, tenths)
        return split_of(title, self.settings.fractions)


def _refs(file: InputFile, shard: ArticleShard) -> Iterator[Refs]:
    """The URLs of a file; what is wrong with it is dropped."""
    with files.open_input(file.path) as raw:
        for refs in read_refs(raw):
            if isinstance(refs, Refs):
                yield refs
            else:
                shard.drop(_dropped(refs, file.name))


def _dropped(error: DataError, file: str) -> Dropped:
    return Dropped("record", None, None, STAGE, error.reason, file, error.offset, str(error))
