"""What a site's robots.txt allows us (RFC 9309), parsed by protego."""

import re
from typing import NamedTuple

from protego import Protego

AGENT = "wikisum"
MAX_ROBOTS_BYTES = 512 << 10
MAX_REDIRECTS = 5
_MAX_RATE_SECONDS = 10**9  # so that a rate is never too large for a float
_AGENT_LINE = re.compile(r"\s*user(?:-|\s*)agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)


class Robots(NamedTuple):
    """A site's rules for us; without `rules`, `allows_all` says if all or nothing is allowed."""

    rules: Protego | None
    allows_all: bool = True

    def allows(self, url: str) -> bool:
        """Whether we may fetch the page."""
        return self.allows_all if self.rules is None else self.rules.can_fetch(url, AGENT)

    @property
    def delay_seconds(self) -> float:
        """The seconds to wait between two requests; 0 if the site does not say."""
        if self.rules is None:
            return 0.0
        delay = self.rules.crawl_delay(AGENT) or 0.0
        rate = self.rules.request_rate(AGENT)
        if not rate or not rate.requests:
            return delay
        return max(delay, min(rate.seconds, _MAX_RATE_SECONDS) / rate.requests)


def robots_of(status: int | None, body: bytes) -> Robots:
    """Return the rules in a response to /robots.txt; `status` is None if there was no response.

    Everything is allowed if the site has no such file (4xx, endless redirects). Nothing is allowed
    if the site fails (5xx, no response) or is too busy (429).
    """
    if status is None or status >= 500 or status == 429:
        return Robots(None, allows_all=False)
    if status != 200:
        return Robots(None, allows_all=True)
    text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace")
    return Robots(Protego.parse("\n".join(map(_without_other_agents, text.splitlines()))))


def _without_other_agents(line: str) -> str:
    """The line, with the names of all agents that cannot be ours replaced by one.

    Protego copies each rule for each agent of its group, so that a file of 16,000 agents with
    16,000 rules would take minutes.
    """
    match = _AGENT_LINE.match(line)
    if match is None or not (name := match[1].strip().lower()):
        return line
    token = name.replace("*", "")
    if not token:
        return "User-agent: *"
    return f"User-agent: {token if AGENT.startswith(token) else 'other'}"
