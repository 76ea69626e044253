"""Settings of how pages are looked up in the indexes of crawls."""

import re
from dataclasses import dataclass

from wikisum.ranker.setting import Checked, setting

INDEXES = ("zipnum", "columnar", "server")


def crawl_name(text: str) -> str:
    """Return the name of a crawl. Raises ValueError."""
    if re.fullmatch(r"\w[\w.-]*", text) is None:
        raise ValueError(f"must be a name like CC-MAIN-2024-10, not {text!r}")
    return text


def crawl_date(text: str) -> str:
    """Return a date as captures have it, with or without month and day. Raises ValueError."""
    from wikisum.crawl.index.cdx import parse_date  # a machine that only trains lacks its packages

    try:
        parse_date(text)
    except ValueError as error:
        raise ValueError(
            f"must be a date like 2024, 2024-02 or 2024-02-24, not {text!r}"
        ) from error
    return text


@dataclass(frozen=True)
class LocateSettings(Checked):
    """Which captures of the wanted pages are used, from which crawls in order of preference."""

    crawls: tuple[str, ...] = setting(
        (),
        "look pages up in this crawl, for example CC-MAIN-2024-10; repeat it for several crawls, "
        "the preferred one first",
        flag="crawl",
        parse=crawl_name,
        append=True,
    )
    date: str | None = setting(
        None,
        "prefer the captures nearest to this date (2024, 2024-02, 2024-02-24)",
        metavar="DATE",
        parse=crawl_date,
        default_text="the newest captures",
    )
    captures: int = setting(2, "captures to record per page, tried in turn", at_least=1)
    index: str = setting(
        "zipnum",
        "index to look pages up in: the crawl's CDX files (zipnum), its Parquet files (columnar), "
        "or a CDX server, for a handful of URLs (server)",
        choices=INDEXES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.crawls)) < len(self.crawls):
            raise ValueError("--crawl names a crawl twice")
