"""Samples of a build's inputs, read in seconds, for an estimate: articles and what they want."""

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO, cast
from urllib.parse import urlsplit

from wikisum.crawl.errors import BadArticle, BadLine
from wikisum.crawl.original.wikisum_files import Content, Refs, read_content, read_refs
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import canonical_urls, url_key
from wikisum.crawl.wikipedia.dump import Page, next_stream, open_dump, read_pages, read_streams
from wikisum.crawl.wikipedia.wikitext import parse_article
from wikisum.pipeline.articles.dump import is_index
from wikisum.pipeline.articles.original import is_original, pair_files
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.packed import pack
from wikisum.pipeline.estimate.prefix import Prefix
from wikisum.pipeline.estimate.volumes import ArticleSample
from wikisum.pipeline.wanted.search_results import read_search_results
from wikisum.pipeline.wanted.urls import unwanted_reason

MAX_ARTICLES = 300
PLACES = 4
SMALL_BYTES = 32 << 20
SEEN_BYTES = 64 << 20  # looked through for the next stream of a dump
SEARCH_BYTES = 64 << 20


class SampledArticles:
    """Sums over the articles that were read, their ids, and the keys of the URLs they want."""

    def __init__(self, max_articles: int, corpus: str = "combined") -> None:
        self._max_articles = max_articles
        self._corpus = corpus
        self.ids: set[str] = set()
        self.keys: set[int] = set()
        self._hosts: Counter[str] = Counter()
        self.articles = 0
        self.read_bytes = 0
        self.markup_chars = 0
        self.packed_bytes = 0
        self.cited = 0

    @property
    def is_full(self) -> bool:
        return self.articles >= self._max_articles

    def add(self, title: str, text: object, markup_chars: int, urls: list[str]) -> None:
        self.articles += 1
        self.ids.add(article_id(title))
        self.markup_chars += markup_chars
        self.packed_bytes += len(pack([title, text, urls]))
        self.cited += len(urls)
        if self._corpus != "search":
            self.want(urls)

    def want(self, urls: list[str]) -> None:
        for url in urls:
            key = url_key(url)
            if key not in self.keys and unwanted_reason(url) is None:
                self.keys.add(key)
                self._hosts[urlsplit(url).netloc] += 1

    @property
    def busiest_host(self) -> int:
        """The number of wanted pages of the host that has most of them."""
        return max(self._hosts.values(), default=0)


def sample_articles(
    dump: list[InputFile],
    urls: list[InputFile],
    search: list[InputFile],
    own: ArticleSettings,
    corpus: str = "combined",
) -> tuple[ArticleSample, frozenset[int]]:
    """A few hundred articles with their search results, and the keys of what they want.

    They come from several offsets in a large multistream dump, else from the beginning.
    """
    sampled = SampledArticles(min(own.limit or MAX_ARTICLES, MAX_ARTICLES), corpus)
    original = is_original(dump)
    main = [file for file in dump if not is_index(file)]
    if original:
        _read_original(dump, urls, own, sampled)
    elif own.limit is not None or not _read_places(main, sampled):
        _read_beginning(main, sampled)
    sample = ArticleSample(
        read_bytes=sampled.read_bytes,
        total_bytes=sum(file.size_bytes for file in main),
        input_bytes=sum(file.size_bytes for file in [*main, *urls]),
        articles=sampled.articles,
        markup_chars=sampled.markup_chars,
        packed_bytes=sampled.packed_bytes,
        cited=sampled.cited,
        searched=_searched(search, sampled, corpus),
        is_original=original,
        busiest_host=sampled.busiest_host,
    )
    return sample, frozenset(sampled.keys)


def _read_original(
    contents: list[InputFile], urls: list[InputFile], own: ArticleSettings, sampled: SampledArticles
) -> None:
    for pairs in pair_files(contents, urls, own):
        for pair in pairs:
            with files.open_input(pair.urls.path) as raw:
                refs = {r.article_url: r.urls for r in read_refs(raw) if isinstance(r, Refs)}
            with files.open_input(pair.content.path) as raw:
                prefix = Prefix(raw)
                for content in read_content(cast(BinaryIO, prefix)):
                    if isinstance(content, Content):
                        cited, _ = canonical_urls(refs.get(content.url, []))
                        sampled.add(content.title, content[2:4], 0, cited)
                    if sampled.is_full:
                        break
            sampled.read_bytes += prefix.read_bytes
            if sampled.is_full:
                return


def _read_beginning(dump: list[InputFile], sampled: SampledArticles) -> None:
    """Read until there are enough articles; count only the share of the bytes that they take."""
    for file in dump:
        taken = seen = 0
        with files.open_input(file.path) as raw:
            prefix = Prefix(raw)
            for page in read_pages(open_dump(cast(BinaryIO, prefix))):
                seen += 1
                if sampled.is_full:
                    prefix.end()  # the pages that are decompressed already still come
                else:
                    taken += 1
                    _add_page(page, sampled)
        sampled.read_bytes += round(prefix.read_bytes * taken / max(seen, 1))
        if sampled.is_full:
            return


def _read_places(dump: list[InputFile], sampled: SampledArticles) -> bool:
    """Read streams at several offsets in a large multistream dump; False for any other dump."""
    total = sum(file.size_bytes for file in dump)
    if total < SMALL_BYTES:
        return False
    for place in range(PLACES):
        offset = (2 * place + 1) * total // (2 * PLACES)
        for file in dump:
            if offset < file.size_bytes:
                break
            offset -= file.size_bytes
        with files.open_input(file.path) as raw:
            start = next_stream(cast(BinaryIO, Prefix(raw, SEEN_BYTES)), offset)
            if start is None:
                return False
            after = next_stream(cast(BinaryIO, Prefix(raw, SEEN_BYTES)), start + 1)
            for page in read_streams(raw, start, start + 1):
                _add_page(page, sampled)
        sampled.read_bytes += (after or file.size_bytes) - start
    return True


def _add_page(page: Page | BadArticle, sampled: SampledArticles) -> None:
    if isinstance(page, BadArticle) or page.namespace or page.redirect is not None:
        return
    try:
        article = parse_article(page.title, page.text)
    except BadArticle:
        return
    text = [article.lead, article.sections]
    sampled.add(page.title, text, len(page.text), article.citations)


def _searched(search: list[InputFile], sampled: SampledArticles, corpus: str) -> int:
    """The number of URLs that a search found for the sampled articles."""
    found = 0
    for file in search:
        with files.open_input(file.path) as raw:
            prefix = Prefix(raw, SEARCH_BYTES)
            own = 0
            for urls in _results(prefix, sampled):
                if corpus != "citations":
                    sampled.want(urls)
                own += len(urls)
        found += round(own * file.size_bytes / max(prefix.read_bytes, 1))
    return found


def _results(prefix: Prefix, sampled: SampledArticles) -> Iterator[list[str]]:
    for result in read_search_results(iter(prefix.readline, b"")):
        if not isinstance(result, BadLine) and article_id(result.title) in sampled.ids:
            yield canonical_urls(result.urls)[0]
