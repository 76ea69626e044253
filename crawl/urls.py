"""One canonical form per URL, so that citations meet crawl records; SURT keys of crawl indexes."""

import hashlib
import html
import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import idna

from crawl.errors import BadUrl

MAX_URL_CHARS = 4096

# Parameters that name the visitor or the campaign and never the page.
_TRACKING = re.compile(
    r"(utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_ga|_gl"
    r"|mkt_tok|oly_(anon|enc)_id|vero_id|wt_mc|spm|ns_(mchannel|source|campaign|linkname)"
    r"|cfid|cftoken|jsessionid|phpsessid|aspsessionid\w*)=.*|sid=[0-9a-f]{32}",
    re.IGNORECASE | re.DOTALL,
)
_SESSION_PATH = re.compile(r";(jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):")
_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff]+")
_WWW = re.compile(r"www\d*\.(?=[^.]+\.)")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_\-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_\-]*[a-z0-9_])?)*")
_IPV6 = re.compile(r"\[[0-9a-f:.]+\]")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT_IN_PATH = _UNRESERVED | frozenset(b"!$&'()*+,;=:@/")
_KEPT_IN_QUERY = _KEPT_IN_PATH | frozenset(b"?")
_ESCAPE = re.compile(rb"%([0-9a-fA-F]{2})?|[^%]")
_PLAIN = re.compile(r"[A-Za-z0-9\-._~!$'()*+,;=:@/]*")


def canonical_url(url: str) -> str:
    """The one form of all spellings of a web address: `http://host/path?query`.

    The scheme becomes http (https and http meet), `www.`, user, default port, fragment, dot
    segments, session and tracking parameters and the trailing slash go, parameters are sorted,
    the host is lower-case IDNA, escapes are upper-case and only where needed. Case of path and
    query is kept. Idempotent. Raises BadUrl (`bad_url`, `not_http`, `url_too_long`).
    """
    host, port, path, query = _parts(url)
    authority = f"{host}:{port}" if port else host
    return f"http://{authority}{path}" + (f"?{query}" if query else "")


def surt_key(url: str) -> str:
    """The sort key of crawl indexes: `com,example)/path?a=1`, path and query in lower case."""
    host, port, path, query = _parts(url)
    name = host if host.startswith("[") or _is_ipv4(host) else ",".join(host.split(".")[::-1])
    if port:
        name += f":{port}"
    fields = "&".join(sorted(query.lower().split("&")))
    return f"{name}){path}".lower() + (f"?{fields}" if query else "")


def host(url: str) -> str:
    """The host of a URL in canonical form, without port. Raises BadUrl."""
    return _parts(url)[0]


def url_key(url: str) -> int:
    """A stable 64-bit number for a canonical URL."""
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big")


@lru_cache(maxsize=1 << 14)
def _parts(url: str) -> tuple[str, str, str, str]:
    """(host, port or '', path beginning with '/', query or '')."""
    if len(url) > MAX_URL_CHARS:
        raise BadUrl("url_too_long", f"{url[:80]}... has {len(url)} characters")
    text = _strip(url)
    scheme = _SCHEME.match(text)
    if text.startswith("//"):
        text = text[2:]
    elif scheme and scheme[1].lower() in ("http", "https"):
        text = text[scheme.end() :].lstrip("/")
    elif scheme and not text[scheme.end() :][:1].isdigit() and "." not in scheme[1]:
        raise BadUrl("not_http", f"{url[:200]} is no web address")
    text = text.split("#", 1)[0]
    authority, slash, rest = _cut_authority(text)
    name, port = _host_and_port(authority, url)
    path, _, query = (slash + rest).partition("?") if slash != "?" else ("", "", rest)
    return name, port, _path(path), _query(query)


def _strip(url: str) -> str:
    """Without white space, entities of wiki text and HTML, and backslashes."""
    if "&" in url and ";" in url:
        for _ in range(3):  # wiki text may be escaped more than once
            plain = html.unescape(url)
            if plain == url:
                break
            url = plain
    url = url.strip(" \t\r\n\f\v<>\"'\u200b\xa0")
    if "\\" in url:
        url = url.replace("\\", "/")
    return _CONTROL.sub(lambda m: "%20" if m[0] == " " else "", url)


def _cut_authority(text: str) -> tuple[str, str, str]:
    for place, char in enumerate(text):
        if char in "/?":
            return text[:place], char, text[place + 1 :]
    return text, "", ""


@lru_cache(maxsize=1 << 14)
def _host_and_port(authority: str, url: str) -> tuple[str, str]:
    authority = authority.rpartition("@")[2]
    if authority.startswith("["):
        name, bracket, tail = authority.partition("]")
        name, port = name.lower() + bracket, tail.lstrip(":")
        good = bool(_IPV6.fullmatch(name))
    else:
        name, _, port = authority.partition(":")
        name = _idna(unquote_to_bytes(name).decode("utf-8", "replace"))
        good = bool(_HOST.fullmatch(name)) and len(name) <= 253 and ("." in name)
    if not good or (port and not port.isascii()) or (port and not port.isdigit()):
        raise BadUrl("bad_url", f"{url[:200]} has no valid host")
    number = int(port) if port and len(port) < 9 else 0
    if number > 65535 or len(port) >= 9:
        raise BadUrl("bad_url", f"{url[:200]} has no valid port")
    return name, "" if number in (0, 80, 443) else str(number)


def _idna(name: str) -> str:
    name = name.lower().strip(".")
    while "www" in name and (shorter := _WWW.sub("", name, count=1) if _WWW.match(name) else name):
        if shorter == name:
            break
        name = shorter
    if name.isascii():
        return name
    try:
        encoded = idna.encode(name, uts46=True, transitional=False).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        try:
            encoded = name.encode("idna").decode("ascii")  # the older rules allow more
        except UnicodeError:
            return ""
    return _idna(encoded) if encoded != name else encoded


def _is_ipv4(name: str) -> bool:
    pieces = name.split(".")
    return len(pieces) == 4 and all(p.isascii() and p.isdigit() and int(p) < 256 for p in pieces)


def _escape(text: str, kept: frozenset[int]) -> str:
    """Escapes only what must be, with upper-case digits; a bare percent sign becomes %25."""
    if _PLAIN.fullmatch(text):
        return text
    out = []
    for match in _ESCAPE.finditer(text.encode("utf-8", "replace")):
        data = match[0]
        if match[1]:
            value = int(match[1], 16)
            out.append(chr(value) if value in _UNRESERVED else f"%{value:02X}")
        elif data[0] in kept:
            out.append(chr(data[0]))
        else:
            out.append(f"%{data[0]:02X}")
    return "".join(out)


def _path(path: str) -> str:
    if ";" in path:
        path = _SESSION_PATH.sub("", path)
    path = _escape(path, _KEPT_IN_PATH)
    if "//" in path or "/." in path:
        segments: list[str] = []
        for segment in path.split("/"):
            if segment == "..":
                del segments[-1:]
            elif segment not in ("", "."):
                segments.append(segment)
        path = "/".join(["", *segments])
    if ";" in path:  # a session id may stand before a segment that has gone
        path = _SESSION_PATH.sub("", path)
    return "/" + path.strip("/")


def _query(query: str) -> str:
    if not query:
        return ""
    query = _escape(query, _KEPT_IN_QUERY)
    fields = [f for f in query.split("&") if f]
    return "&".join(sorted(f for f in fields if not _TRACKING.fullmatch(f)))


_ARCHIVES = re.compile(
    r"https?://(?:"
    r"(?:web\.|www\.|wayback\.|classic-web\.|liveweb\.)?archive\.org/(?:web|wayback)/[^/]+"
    r"|(?:www\.)?archive\.(?:is|today|ph|fo|li|md|vn)/(?:\d[^/]+|o/\w+|newest)"
    r"|web\.archive\.bibalex\.org/web/[^/]+"
    r"|(?:www\.)?webarchive\.nationalarchives\.gov\.uk/(?:ukgwa/)?[^/]+"
    r"|webarchive\.loc\.gov/(?:[a-z]\w+/)?\d+\w*"
    r"|wayback\.archive-it\.org/(?:\d+/)?\d+\w*"
    r"|swap\.stanford\.edu/(?:was/)?\d+\w*"
    r"|(?:www\.)?webarchive\.org\.uk/wayback/(?:\w+/)?archive/\d+\w*"
    r"|arquivo\.pt/wayback/\d+\w*"
    r"|perma-archives\.org/warc/[^/]+"
    r"|webcache\.googleusercontent\.com/search\?q=cache:(?:[\w\-]+:)?"
    r"|(?:www\.)?webcitation\.org/[^?]*\?(?:.*&)?url="
    r")/?(?P<url>(?:https?(?::|%3A)|//|www\.|[\w\-]+\.[a-z]{2,}[/:?]).+)",
    re.IGNORECASE | re.DOTALL,
)


def unwrap_archive(url: str) -> str:
    """The address of the page that an archive's copy shows; any other URL as it is.

    Short archive ids that do not tell the page (`archive.is/AbCd`) stay as they are.
    """
    for _ in range(4):  # a copy of a copy
        found = _ARCHIVES.fullmatch(url.strip())
        if not found:
            break
        inner = found["url"]
        if re.match(r"https?%3A", inner, re.IGNORECASE):
            inner = unquote_to_bytes(inner).decode("utf-8", "replace")
        if "webcitation" in url or "webcache" in url:
            inner = re.split(r"&(?=date=|hl=|cd=|gl=|ct=)|\+(?=&|$)", inner)[0]
        inner = re.sub(r"^(https?):/*", r"\1://", inner, flags=re.IGNORECASE)
        url = inner if "://" in inner[:9] else "http://" + inner.lstrip("/")
    return url


_WIKIMEDIA = (
    "wikipedia.org", "wikimedia.org", "wikidata.org", "wiktionary.org", "wikiquote.org",
    "wikisource.org", "wikibooks.org", "wikinews.org", "wikiversity.org", "wikivoyage.org",
    "mediawiki.org", "wikimediafoundation.org", "toolforge.org", "wmflabs.org",
)  # fmt: skip
# Hosts that show Wikipedia's own text, under their name or another.
_MIRRORS = (
    "academickids.com", "alchetron.com", "artandpopularculture.com", "dbpedia.org",
    "deletionpedia.org", "en.google-info.org", "en.linkfang.org", "enacademic.com",
    "encyclopedia.thefreedictionary.com", "encyclopedia2.thefreedictionary.com",
    "everipedia.org", "everybodywiki.com", "gpedia.com", "infogalactic.com",
    "infogalactic.info", "justapedia.org", "kiddle.co", "kiwix.org", "knowpia.com",
    "mirrorwiki.net", "nationmaster.com", "popflock.com", "self.gutenberg.org",
    "speedydeletion.fandom.com", "spiritus-temporis.com", "thereaderwiki.com", "unionpedia.org",
    "vvikipedla.com", "wiki2.org", "wikiblink.com", "wikibrief.org", "wikidoc.org",
    "wikimili.com", "wikimonde.com", "wikipedia.us", "wikiqube.com", "wikitia.com",
    "wikitree.us", "wikivisually.com", "wikivividly.com", "wikiwand.com", "wikizer.com",
    "wikizero.com", "wikizero.org", "worldheritage.org",
)  # fmt: skip
_OWN_HOSTS = frozenset(_WIKIMEDIA + _MIRRORS)


def is_wikipedia(url: str) -> bool:
    """Whether the URL is Wikipedia's own, in any language, a sister's, or a mirror's, by host."""
    pieces = host(url).split(".")
    return any(".".join(pieces[i:]) in _OWN_HOSTS for i in range(len(pieces) - 1))
