"""Compute the keys by which crawl indexes sort URLs (SURT): `com,example)/path?a=1`."""

import re
from functools import lru_cache

from wikisum.crawl.urls import resolve_dots, url_parts, without_asp_session

_ASCII_ESCAPE = re.compile(r"%([0-7][0-9a-f])")
_TO_ESCAPE = re.compile(r"[\x00-\x20#]|%(?![89a-f][0-9a-f])")
_WWW = re.compile(r"(www\d*\.)+")


def surt_key(url: str) -> str:
    """Return the key of a URL's canonical form, as in CommonCrawl's index.

    The host is reversed, even if it is an IPv4 address; all is in lower case; of ASCII only white
    space, `#` and `%` are escaped; parameters are sorted by name, then value. Different URLs may
    share a key, for example if they differ only in case, so compare the URLs afterwards. Unlike
    the index, this drops tracking parameters. Raises BadUrl.
    """
    parts = url_parts(url)
    path, query = parts.path.lower(), parts.query.lower()
    if "%" in path:
        path = without_asp_session(resolve_dots(_unescaped(path)))
    key = f"{_reversed(parts.host)}:{parts.port}){path}" if parts.port else ""
    key = key or f"{_reversed(parts.host)}){path}"
    if not query:
        return key
    fields = (_unescaped(query) if "%" in query else query).split("&")
    return f"{key}?{'&'.join(sorted(fields, key=_name_and_value))}"


@lru_cache(maxsize=1 << 14)
def _reversed(host: str) -> str:
    if host.startswith("["):
        return host[1:-1]
    return ",".join(reversed(_WWW.sub("", host, count=1).split(".")))


def _name_and_value(field: str) -> tuple[str, str]:
    name, _, value = field.partition("=")
    return name, value


def _unescaped(text: str) -> str:
    """Return lower-case text with escapes undone, repeatedly, and the needed ones restored."""
    while (plain := _ASCII_ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)) != text:
        text = plain.lower()
    return _TO_ESCAPE.sub(lambda m: f"%{ord(m[0]):02x}", text)
