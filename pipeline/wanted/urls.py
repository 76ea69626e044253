"""Which URLs an article wants, and which of them are never taken. No Beam, no files."""

from collections.abc import Iterable
from typing import NamedTuple

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.urls import canonical_url, is_wikipedia, unwrap_archive
from wikisum.pipeline.records import Dropped, WantedUrl, dropped_row
from wikisum.pipeline.wanted.search_results import SearchResult

STAGE = "wanted"
MAX_DETAIL_CHARS = 500


class CitingArticle(NamedTuple):
    """An article's id and citations, and where it stands: of several with one id the first counts.

    `citations` are canonical URLs.
    """

    file: str
    row: int
    id: str
    citations: list[str]


def unwanted_reason(url: str) -> str | None:
    """Return why a page is never taken, or None. Raises BadUrl."""
    return "wikipedia_itself" if is_wikipedia(url) else None


def wanted_urls(
    article: str,
    citations: list[str],
    searched: list[list[str]],
    corpus: str,
    source: str = "citation",
) -> tuple[list[WantedUrl], list[Dropped]]:
    """Return the URLs that an article wants, each once, citations first; and dropped rows.

    `citations` are canonical URLs, and `source` is theirs. Each of `searched` is one list of search
    results as written in its file; a URL that cannot be parsed is a dropped row.
    """
    wanted: dict[str, WantedUrl] = {}
    dropped = []

    def want(url: str, source: str, rank: int) -> None:
        if url not in wanted:
            wanted[url] = WantedUrl(url, article, source, rank, unwanted_reason(url))

    if corpus != "search":
        for rank, url in enumerate(citations):
            want(url, source, rank)
    if corpus != "citations":
        rank = 0  # counts the URLs that can be parsed
        for raw in (url for results in searched for url in results):
            try:
                want(canonical_url(unwrap_archive(raw)), "search", rank)
            except BadUrl as error:
                detail = raw[:MAX_DETAIL_CHARS]
                dropped.append(
                    dropped_row("reference", STAGE, error.reason, article=article, detail=detail)
                )
            else:
                rank += 1
    return list(wanted.values()), dropped


def duplicate_titles(articles: Iterable[CitingArticle]) -> list[Dropped]:
    """Return a dropped row for each article but the first, in the order of files and rows."""
    return [
        dropped_row("article", STAGE, "duplicate_title", article=a.id, file=a.file, offset=a.row)
        for a in sorted(articles)[1:]
    ]


def unknown_titles(results: Iterable[SearchResult]) -> list[Dropped]:
    """Return a dropped row for each line of search results whose title is no article's."""
    return [
        dropped_row("record", STAGE, "unknown_title", file=r.file, offset=r.offset, detail=r.title)
        for r in sorted(results)
    ]
