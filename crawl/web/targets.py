"""What to request from a web server: a URL's parts, and where its redirects lead."""

import re
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import idna

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.web.addresses import literal_address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_TARGET_CHARS = 8192
_HOST = re.compile(
    r"[a-z0-9_]([a-z0-9_\-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_\-]{0,61}[a-z0-9_])?)*"
)
_KEPT = "%/:@!$&'()*+,;=~-._?[]"  # escapes that are there stay as they are


class Target(NamedTuple):
    """A page to request: `host` in ASCII without brackets, `path` with the query, escaped."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host, and the port if it is not the default of the scheme."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"


def target_of(url: str) -> Target:
    """Return the target of an absolute URL, without its user and fragment.

    Raises BadUrl: `not_http`, `bad_url` (also for port 0), `url_too_long`.
    """
    if len(url) > MAX_TARGET_CHARS:
        raise BadUrl("url_too_long", f"{url[:80]}... has {len(url)} characters")
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise BadUrl("bad_url", f"{url[:200]}: {error}") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise BadUrl("not_http", f"{url[:200]} is not a web address")
    if port == 0:
        raise BadUrl("bad_url", f"{url[:200]} has port 0")
    path = quote(parts.path or "/", safe=_KEPT, errors="replace")
    if parts.query:
        path += "?" + quote(parts.query, safe=_KEPT, errors="replace")
    return Target(
        parts.scheme,
        _ascii_host(host),
        port or DEFAULT_PORTS[parts.scheme],
        path.replace("#", "%23"),
    )


def redirect_target(base: Target, location: str) -> Target:
    """Return the target of a Location header that a page answered with. Raises BadUrl."""
    try:
        joined = urljoin(base.url, location.strip())
    except ValueError as error:
        raise BadUrl("bad_url", f"{location[:200]}: {error}") from error
    return target_of(joined)


def first_targets(url: str) -> list[Target]:
    """Return what a canonical URL may stand for, likeliest first: https or http, and `www.`.

    A canonical URL keeps neither the scheme nor `www.`. The later targets are for when the first
    cannot be reached. Raises BadUrl.
    """
    plain = target_of(url)
    if plain.port != DEFAULT_PORTS["http"]:
        return [plain, plain._replace(scheme="https")]
    found = [plain._replace(scheme="https", port=DEFAULT_PORTS["https"]), plain]
    if literal_address(plain.host) is None:
        found += [target._replace(host=f"www.{plain.host}") for target in found]
    return found


def _ascii_host(host: str) -> str:
    """Return the host as resolvers know it; an address in its usual spelling. Raises BadUrl."""
    name = host.rstrip(".").lower()
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii").lower()
        except (idna.IDNAError, UnicodeError) as error:
            raise BadUrl("bad_url", f"not a host: {host[:200]!r}") from error
    address = literal_address(name)
    if address is not None:
        return str(address)
    if not _HOST.fullmatch(name) or len(name) > 253:
        raise BadUrl("bad_url", f"not a host: {host[:200]!r}")
    return name
