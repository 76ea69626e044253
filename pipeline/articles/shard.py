"""A shard of `articles/` and its dropped rows, as every kind of input fills them."""

from collections import Counter
from functools import cache
from types import TracebackType
from typing import Self

from wikisum.crawl.titles import normalise_title
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardWriter
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import ArticleSettings
from wikisum.pipeline.records import ARTICLE, DROPPED, Article, Dropped

STAGE = "articles"


@cache
def _titles(path: str) -> frozenset[str]:
    with files.open_input(path) as raw:
        lines = raw.read().decode("utf-8", "replace").splitlines()
    return frozenset(normalise_title(line) for line in lines if line.strip())


def is_selected(title: str, settings: ArticleSettings) -> bool:
    """Whether the settings take an article of that title."""
    return not settings.titles or normalise_title(title) in _titles(settings.titles)


class ArticleShard:
    """Part `index` of the stage, written while the block lasts; `counts` may be added to."""

    def __init__(
        self,
        out: str,
        index: int,
        part_count: int,
        settings: ArticleSettings,
        metadata: dict[str, str],
        ticker: Ticker,
    ) -> None:
        name = f"{index:05d}-of-{part_count:05d}.parquet"
        self.counts: Counter[str] = Counter()
        self._limit = settings.limit
        self._ticker = ticker
        self._articles = ShardWriter(out, f"articles/articles-{name}", ARTICLE, metadata)
        self._dropped = ShardWriter(out, f"dropped/dropped-articles-{name}", DROPPED, metadata)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for writer in (self._articles, self._dropped):
            writer.__exit__(kind, error, trace)
        self._ticker.flush()

    @property
    def is_full(self) -> bool:
        """Whether there are as many articles as the settings ask for."""
        return self._limit is not None and self.counts["articles_out"] >= self._limit

    def write(self, article: Article, bad_urls: list[tuple[str, str]], file: str) -> None:
        """Add an article, and a dropped row for each of its (URL, reason) that is none."""
        self.counts["articles_out"] += 1
        self.counts["citations_out"] += len(article.citations)
        self._ticker.add(items=1)
        self._articles.write(article)
        for url, reason in bad_urls:
            self.counts["dropped_bad_url"] += 1
            self._dropped.write(
                Dropped("reference", article.id, None, STAGE, reason, file, detail=url)
            )

    def drop(self, row: Dropped) -> None:
        """Add a dropped row."""
        self.counts[f"dropped_{row.reason}"] += 1
        self._dropped.write(row)

    def result(self, facts: dict[str, str]) -> PartResult:
        """What was written and counted, after the block."""
        written = [f for w in (self._articles, self._dropped) if (f := w.file)]
        return PartResult(written, dict(self.counts), facts)
