"""Settings of the search."""

from dataclasses import dataclass

from wikisum.pipeline.setting import language_code, max_page_bytes_setting
from wikisum.ranker.setting import Checked, setting

QUERIES = ("titles", "sections")


@dataclass(frozen=True)
class SearchSettings(Checked):
    """Which pages of a crawl are the search results of a title."""

    queries: str = setting(
        "titles", "what to search for: titles, or titles with each section's title", choices=QUERIES
    )
    results: int = setting(10, "maximum pages per query", at_least=1, at_most=1000)
    per_host: int = setting(2, "maximum pages of one host per query", at_least=1)
    clone_threshold: float = setting(
        0.5,
        "leave out pages that contain more than this share of a section of the article",
        at_least=0,
        at_most=1,
    )
    statistics_files: int = setting(
        64, "crawl files to collect the statistics of BM25 from", at_least=1
    )
    language: str | None = setting(
        None,
        "leave out pages in other languages",
        metavar="CODE",
        parse=language_code,
        default_text="the language of the articles",
    )
    max_page_bytes: int = max_page_bytes_setting(16, "leave out pages larger than this")
