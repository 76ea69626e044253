"""What a site's robots.txt lets us do (RFC 9309), parsed by protego."""

from typing import NamedTuple

from protego import Protego

AGENT = "wikisum"
MAX_ROBOTS_BYTES = 512 << 10
MAX_REDIRECTS = 5


class Robots(NamedTuple):
    """A site's rules for us; without any `rules`, `allows_all` says whether all or nothing goes."""

    rules: Protego | None
    allows_all: bool = True

    def allows(self, url: str) -> bool:
        """Whether we may fetch the page."""
        return self.allows_all if self.rules is None else self.rules.can_fetch(url, AGENT)

    @property
    def delay_seconds(self) -> float:
        """How long we are to wait between two requests; 0 if nothing is said."""
        if self.rules is None:
            return 0.0
        delay = self.rules.crawl_delay(AGENT) or 0.0
        rate = self.rules.request_rate(AGENT)
        return max(delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)


def robots_of(status: int | None, body: bytes) -> Robots:
    """The rules in an answer to the request for /robots.txt; status None where none came.

    There are none where the site says that it has no such file (4xx, endless redirects); nothing
    is allowed where it fails (5xx, no answer), or is too busy to tell (429).
    """
    if status is None or status >= 500 or status == 429:
        return Robots(None, allows_all=False)
    if status != 200:
        return Robots(None, allows_all=True)
    return Robots(Protego.parse(body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")))
