"""Settings of requests to a crawl's servers."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from wikisum import __version__
from wikisum.ranker.setting import Checked, setting

MAX_PAUSE_SECONDS = 86_400  # longer ones overflow clocks or never end

# Why a page could not be fetched, besides http_NNN and http_status_NNN.
RETRY_REASONS = (
    "bad_index", "bad_url", "broken_answer", "connect_failed", "connection_lost", "dns_failed",
    "no_connection", "no_such_file", "not_http", "not_reached", "page_too_large", "past_end",
    "port_refused", "private_address", "range_ignored", "reset", "robots_delay",
    "robots_disallowed", "robots_unreachable", "short_body", "size_limit", "time_limit", "timeout",
    "tls_failed", "too_large", "too_many_redirects", "unreadable", "url_too_long", "wrong_range",
)  # fmt: skip


def retry_reasons(text: str) -> frozenset[str]:
    """Return the reasons in a list with commas. Raises ValueError naming those that there are."""
    reasons = frozenset(text.split(","))
    for reason in sorted(reasons):
        if reason not in RETRY_REASONS and not re.fullmatch(r"http_(status_)?\d{3}", reason):
            known = ", ".join((*RETRY_REASONS, "http_503 (any status)"))
            raise ValueError(f"has an unknown reason {reason!r}; known reasons: {known}")
    return reasons


def http_url(text: str) -> str:
    """Return the URL of a server. Raises ValueError for one that cannot be asked."""
    try:
        parts = urlsplit(text)
        is_right = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValueError(f"must be an http or https URL, not {text!r}: {error}") from error
    if not (is_right and re.fullmatch(r"https?://[^\s/]\S*", text)):
        raise ValueError(f"must be an http or https URL, not {text!r}")
    return text


def index_url(text: str) -> str:
    """Return the URL of a CDX server. Raises ValueError for another placeholder than {crawl}."""
    if set("{}") & set(text.replace("{crawl}", "")):
        raise ValueError(f"must be a URL without braces other than {{crawl}}, not {text!r}")
    return http_url(text)


def crawl_root(text: str) -> str:
    """Return a URL or a folder with crawls. Raises ValueError for a URL that cannot be asked."""
    return http_url(text) if text.startswith(("http://", "https://")) else text


def contact_address(text: str) -> str:
    """Return what can stand in parentheses in a User-Agent header. Raises ValueError."""
    if not (text.isascii() and text.isprintable() and text.strip()) or set(text) & set("()"):
        raise ValueError("must be a mail or web address in ASCII, without parentheses")
    return text


def contact_setting() -> Any:
    """Return the field of the address that a User-Agent names."""
    return setting(
        None,
        "mail or web address in the User-Agent, so that operators of servers can reach you",
        metavar="ADDRESS",
        parse=contact_address,
    )


def user_agent(contact: str | None) -> str:
    """Return the User-Agent header of requests."""
    return f"wikisum/{__version__}" + (f" (+{contact})" if contact else "")


@dataclass(frozen=True)
class RemoteSettings(Checked):
    """How a crawl's servers are asked. These settings do not change what is written.

    `rate` is in requests per second over all workers, 0 for no limit; None means 2 for servers of
    others. `retry` names the reasons for which failures of an earlier run are tried again.
    """

    roots: tuple[str, ...] = setting(
        ("https://data.commoncrawl.org/",),
        "where crawls are stored: URLs or folders with the same content, asked in turn; for lists "
        "of crawl files, the default is the nearest fitting folder at or above the list",
        flag="crawl-root",
        metavar="ROOT",
        parse=crawl_root,
    )
    index_server: str = setting(
        "https://index.commoncrawl.org/{crawl}-index",
        "CDX server for --index server; {crawl} stands for the name of the crawl",
        metavar="URL",
        parse=index_url,
    )
    rate: float | None = setting(
        None,
        "maximum requests per second over all workers; 0 means no limit",
        at_least=0,
        default_text="2; no limit for files and this machine",
    )
    connections: int = setting(4, "maximum concurrent requests over all workers", at_least=1)
    attempts: int = setting(10, "maximum attempts per request", at_least=1)
    first_pause_seconds: float = setting(
        1.0,
        "pause before the second attempt; it doubles with each further attempt",
        flag="first-pause",
        metavar="SECONDS",
        at_least=0,
        at_most=MAX_PAUSE_SECONDS,
    )
    timeout_seconds: float = setting(
        30.0,
        "time to wait for a response",
        flag="timeout",
        metavar="SECONDS",
        above=0,
        at_most=MAX_PAUSE_SECONDS,
    )
    contact: str | None = contact_setting()
    retry: frozenset[str] = setting(
        frozenset(),
        "retry pages that failed for these reasons in an earlier run, for example http_503,timeout",
        metavar="REASONS",
        parse=retry_reasons,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.roots or not all(self.roots):
            raise ValueError("--crawl-root is empty")
