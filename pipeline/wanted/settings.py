"""Settings of the wanted pages."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, setting

CORPORA = ("citations", "search", "combined")


@dataclass(frozen=True)
class WantedSettings(Checked):
    """Which of an article's URLs are wanted."""

    corpus: str = setting(
        "combined", "pages to use: cited pages, search results, or both", choices=CORPORA
    )
