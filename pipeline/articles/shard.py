"""What the readers of dumps and of original files share: which articles are taken, and writing."""

from collections.abc import Iterable
from functools import cache

from wikisum.crawl.titles import normalize_title
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter
from wikisum.pipeline.records import Article
from wikisum.ranker.categories import is_in_category


@cache
def _titles(path: str) -> frozenset[str]:
    lines = files.read_bytes(path).decode("utf-8", "replace").splitlines()
    return frozenset(normalize_title(line) for line in lines if line.strip())


def is_selected(title: str, settings: ArticleSettings) -> bool:
    """Whether the settings take an article of that title."""
    return not settings.titles or normalize_title(title) in _titles(settings.titles)


def in_category(categories: Iterable[str], settings: ArticleSettings) -> bool:
    """Whether the settings take an article of these categories."""
    return settings.category is None or is_in_category(categories, settings.category)


def is_full(part: PartWriter, settings: ArticleSettings) -> bool:
    """Whether the part has as many articles as the settings allow."""
    return settings.limit is not None and part.counts["articles_out"] >= settings.limit


def write_article(
    part: PartWriter, article: Article, bad_urls: list[tuple[str, str]], file: str
) -> None:
    """Write an article, and a dropped row for each of its unusable (URL, reason)."""
    part.write(article)
    part.counts["citations_out"] += len(article.citations)
    part.ticker.add(items=1)
    for url, reason in bad_urls:
        part.drop("reference", reason, article=article.id, file=file, detail=url)
