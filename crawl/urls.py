"""Bring URLs into one canonical form, so that citations match crawl records."""

import hashlib
import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import idna

from wikisum.crawl.errors import BadUrl

MAX_URL_CHARS = 4096

# Parameters that name the visitor or the campaign and never the page.
_TRACKING = re.compile(
    r"(utm_\w+|pk_\w+|mtm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|srsltid|fbclid|msclkid|yclid|twclid"
    r"|ttclid|igshid|li_fat_id|mc_[ce]id|_ga|_gl|_hs(enc|mi)|__hs(tc|sc|fp)|__twitter_impression"
    r"|mkt_tok|oly_(anon|enc)_id|vero_id|wt_mc|xtor|spm|ns_(mchannel|source|campaign|linkname)"
    r"|cfid|cftoken|jsessionid|phpsessid|oscsid|aspsessionid\w*)=.*|s(id)?=[0-9a-f]{32}",
    re.IGNORECASE,
)
_SESSION_PATH = re.compile(r";(jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_ASP_SESSION = re.compile(
    r"/\(([a-z]\([0-9a-z]{24}\))+\)(?=/.*\.aspx)|/\([0-9a-z]{24}\)(?=/.*\.aspx)", re.IGNORECASE
)
_WEB_SCHEMES = re.compile(r"(https?:[/\\]*)+", re.IGNORECASE)  # `http://http://` is common
_OTHER_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+\-]*:(?!\d)")
_ENTITY = re.compile(r"&#(?:([0-9]{1,7})|x([0-9a-f]{1,6}));", re.IGNORECASE)
_AMPERSANDS = re.compile(r"&(?:amp;)+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\u2060\ufeff\ud800-\udfff]+")
_WWW = re.compile(r"(www\d*\.)+(?=[^.]+\.)")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_\-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_\-]*[a-z0-9_])?)+")
_PORT = re.compile(r"[0-9]{0,8}")
_BYTE = r"%([0-9a-fA-F]{2})?"
_PATH_ESCAPES = re.compile(_BYTE + r"|[^A-Za-z0-9\-._~!$'()*,:@/&+;=]")
_QUERY_ESCAPES = re.compile(_BYTE + r"|[^A-Za-z0-9\-._~!$'()*,:@/?&+;=]")
# These mean the same escaped or not, unlike `&+;=%#` and, in a path, `/?`.
_SAME_IN_PATH = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$'()*,:@"
)
_SAME_IN_QUERY = _SAME_IN_PATH | frozenset("/?")


class UrlParts(NamedTuple):
    """A canonical URL in parts: `port` is empty if it is the default, `path` begins with `/`."""

    host: str
    port: str
    path: str
    query: str


def canonical_url(url: str) -> str:
    """Return the one form of all spellings of a web address: `http://host/path?query`.

    https becomes http. Removed are `www.`, user, default port, fragment (`#!` too, since crawlers
    do not send it), dot segments, session and tracking parameters and the trailing slash.
    Parameters are sorted; the host is lower-case IDNA; escapes are upper-case and only where they
    change the meaning; the case of path and query is kept. Idempotent. Raises BadUrl (`bad_url`,
    `not_http`, `url_too_long`).

        >>> canonical_url("https://www.Example.org/a/../b/?z=1&a=2&utm_source=x#top")
        'http://example.org/b?a=2&z=1'
    """
    host, port, path, query = url_parts(url)
    authority = f"{host}:{port}" if port else host
    return f"http://{authority}{path}" + (f"?{query}" if query else "")


def host(url: str) -> str:
    """Return the host of a URL in canonical form, without port. Raises BadUrl."""
    return url_parts(url).host


def url_key(url: str) -> int:
    """Return a stable 64-bit hash of a canonical URL."""
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big")


@lru_cache(maxsize=1 << 14)
def url_parts(url: str) -> UrlParts:
    """Return the parts of the canonical form of a URL. Raises BadUrl."""
    if len(url) > MAX_URL_CHARS:
        raise BadUrl("url_too_long", f"{url[:80]}... has {len(url)} characters")
    text = _without_entities(url) if "&#" in url else url
    text = _CONTROL.sub("", text).partition("#")[0].strip(' \xa0\u3000<>"')
    head, _, query = text.partition("?")
    head = head.replace("\\", "/")
    if scheme := _WEB_SCHEMES.match(head):
        head = head[scheme.end() :]
    elif _OTHER_SCHEME.match(head):
        raise BadUrl("not_http", f"{url[:200]} is not a web address")
    authority, slash, path = head.lstrip("/").partition("/")
    name, port = _host_and_port(authority.rpartition("@")[2].strip())
    parts = UrlParts(name, port, _path(slash + path), _query(query) if query else "")
    if sum(map(len, parts)) > MAX_URL_CHARS - 10:  # escapes may have made it longer
        raise BadUrl("url_too_long", f"{url[:80]}... is too long when escaped")
    return parts


def _without_entities(text: str) -> str:
    """Decode the numeric entities of wiki text, which may be escaped more than once."""
    while found := _ENTITY.search(text):
        code = int(found[1]) if found[1] else int(found[2], 16)
        text = text[: found.start()] + chr(min(code, 0x10FFFF)) + text[found.end() :]
    return text


@lru_cache(maxsize=1 << 14)
def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        name, bracket, port = authority[1:].partition("]")
        name, port = f"[{_ipv6(name if bracket else '')}]", port.removeprefix(":")
    else:
        name, _, port = authority.partition(":")
        name = _ascii_host(unquote(name, errors="replace") if "%" in name else name)
        if not _HOST.fullmatch(name) or len(name) > 253:
            raise BadUrl("bad_url", f"not a host: {authority[:200]!r}")
    if not _PORT.fullmatch(port) or not 0 < int(port or 80) <= 65535:
        raise BadUrl("bad_url", f"not a port: {authority[:200]!r}")
    return name, "" if int(port or 80) in (80, 443) else str(int(port))


def _ipv6(name: str) -> str:
    try:
        return str(ipaddress.IPv6Address(name.partition("%")[0]))
    except ValueError as error:
        raise BadUrl("bad_url", f"not a host: [{name[:200]}]") from error


def _ascii_host(name: str) -> str:
    """Return the host in lower case, without `www.`, in IDNA where possible."""
    name = name.lower().strip(".")
    if not name.isascii():
        name = _idna(name) if len(name) <= 253 else name
    return _WWW.sub("", name, count=1) if name.startswith("www") else name


def _idna(name: str) -> str:
    try:
        return idna.encode(name, uts46=True).decode("ascii").strip(".")
    except (idna.IDNAError, UnicodeError):
        pass
    try:
        return (
            name.encode("idna").decode("ascii").lower().strip(".")
        )  # the older standard allows more
    except UnicodeError:
        return name


def _escape(text: str, escapes: re.Pattern[str], same: frozenset[str]) -> str:
    """Normalize escapes: upper-case, and only where needed; a bare percent sign becomes %25."""

    def one(match: re.Match[str]) -> str:
        if match[1]:
            char = chr(int(match[1], 16))
            return char if char in same else match[0].upper()
        return "".join(f"%{byte:02X}" for byte in match[0].encode())

    return escapes.sub(one, text)


def resolve_dots(path: str) -> str:
    """Return the path without `.`, `..` and empty segments and without a trailing slash."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return "/" + "/".join(segments)


def without_asp_session(path: str) -> str:
    """Return the path without the segment that holds a session of ASP.NET."""
    return _ASP_SESSION.sub("", path) if "/(" in path and ".aspx" in path.lower() else path


def _path(path: str) -> str:
    path = _escape(path, _PATH_ESCAPES, _SAME_IN_PATH)
    if ";" in path:
        path = _SESSION_PATH.sub("", _AMPERSANDS.sub("&", path))
    if "//" in path or "/." in path:
        path = resolve_dots(path)
    return "/" + without_asp_session(path).strip("/")


def _query(query: str) -> str:
    query = _escape(query, _QUERY_ESCAPES, _SAME_IN_QUERY)
    if "amp;" in query:
        query = _AMPERSANDS.sub("&", f"&{query}")
    return "&".join(sorted(f for f in query.split("&") if f and not _TRACKING.fullmatch(f)))


_ARCHIVES = re.compile(
    r"(?:https?:)?(?://)?(?:"
    r"(?:[\w\-]+\.)?archive\.org(?::\d+)?/(?:(?:web|wayback)/[^/]+|save(?:/_embed)?)"
    r"|(?:[\w\-]+\.)?archive\.org/wayback/available\?(?:[^#]*&)?url="
    r"|(?:www\.)?archive\.(?:is|today|ph|fo|li|md|vn)/(?:(?:\d[^/]*|o/\w+|newest|timegate)"
    r"|\?(?:[^#]*&)?url=)"
    r"|(?:www\.)?(?:webcitation\.org/[^?]*|(?:archive\.)?wikiwix\.com/cache/(?:index2?\.php)?)"
    r"\?(?:[^#]*&)?url="
    r"|webcache\.googleusercontent\.com/search\?(?:[^#]*&)?q=cache:(?:[\w\-]+:)?"
    # any web archive that keeps copies under a time stamp and the whole address
    r"|[\w.\-]+\.[a-z]{2,}(?::\d+)?/(?:[\w.\-]+/){0,3}(?:\d{4,14}|\d{14}[a-z]{2}_|\*)(?=/+https?:)"
    # and known ones that leave out the scheme of the address
    r"|(?:webarchive\.nationalarchives\.gov\.uk|webarchive\.loc\.gov|swap\.stanford\.edu"
    r"|wayback\.archive-it\.org|web\.archive\.bibalex\.org|arquivo\.pt|wayback\.vefsafn\.is"
    r"|(?:www\.)?webarchive\.org\.uk|(?:www\.)?collectionscanada\.gc\.ca/webarchives"
    r"|webarchive\.nla\.gov\.au|perma-archives\.org/warc)"
    r"/(?:[\w.\-]+/){0,3}(?:\d{4,14}\w*|\*)"
    r")/?(?P<url>(?:https?(?::|%3A)|//|www\.|[\w\-]+(?:\.[\w\-]+)*\.[a-z]{2,}(?:[/:?]|$)).*)",
    re.IGNORECASE | re.DOTALL,
)
_QUERY_ARCHIVES = re.compile(r"[?&](?:url=|q=cache:)", re.IGNORECASE)
_LATER_PARAMETERS = re.compile(r"&(?:date|hl|cd|gl|ct|client|strip|timestamp|run)=.*", re.DOTALL)


def unwrap_archive(url: str) -> str:
    """Return the address of the page that a web archive's copy shows; other URLs as they are.

    Short archive ids that do not contain the address (`archive.is/AbCd`) stay as they are.
    """
    for _ in range(4):  # a copy of a copy
        found = _ARCHIVES.fullmatch(url.strip()) if len(url) <= MAX_URL_CHARS else None
        if not found:
            break
        inner = found["url"]
        if _QUERY_ARCHIVES.search(url, 0, found.start("url")):
            inner = _LATER_PARAMETERS.sub("", inner)
            if re.match(r"https?%3A", inner, re.IGNORECASE) or "://" not in inner:
                inner = unquote(inner)
        inner = re.sub(r"^(https?)(?::|%3A)/*", r"\1://", inner, flags=re.IGNORECASE)
        url = inner if "://" in inner[:9] else "http://" + inner.lstrip("/")
    return url


def canonical_urls(urls: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the distinct canonical URLs, unwrapped from archives, and (bad URL, reason) pairs."""
    good: dict[str, None] = {}
    bad: dict[str, str] = {}
    for url in urls:
        try:
            good[canonical_url(unwrap_archive(url))] = None
        except BadUrl as error:
            bad[url[:500]] = error.reason
    return list(good), list(bad.items())


_WIKIMEDIA = (
    "mediawiki.org", "toolforge.org", "w.wiki", "wikibooks.org", "wikidata.org",
    "wikifunctions.org", "wikimedia.org", "wikimediafoundation.org", "wikinews.org",
    "wikipedia.com", "wikipedia.org", "wikiquote.org", "wikisource.org", "wikiversity.org",
    "wikivoyage.org", "wiktionary.org", "wmcloud.org", "wmflabs.org",
)  # fmt: skip
# Hosts that show Wikipedia's text as it is, machine-translated or hardly changed. Wikis that write
# their own text (Citizendium, Fandom, Scholarpedia) are not among them.
_MIRRORS = (
    "absoluteastronomy.com", "academickids.com", "alchetron.com", "alegsaonline.com",
    "artandpopularculture.com", "dbpedia.org", "de-academic.com", "deacademic.com",
    "deletionpedia.org", "en-academic.com", "en.google-info.org", "enacademic.com",
    "encyclopedia.thefreedictionary.com", "everipedia.org", "everybodywiki.com",
    "fr-academic.com", "fracademic.com", "frwiki.wiki", "gpedia.com", "infogalactic.com",
    "infogalactic.info", "justapedia.org", "kiddle.co", "kiwix.org", "knowledgr.com",
    "knowpia.com", "linkfang.org", "medlibrary.org", "mirrorwiki.net", "owlapps.net",
    "peoplepill.com", "popflock.com", "qaz.wiki", "qwe.wiki", "second.wiki",
    "self.gutenberg.org", "speedydeletion.fandom.com", "spiritus-temporis.com",
    "thereaderwiki.com", "turkcewiki.org", "unionpedia.org", "vvikipedla.com",
    "wiki.kidzsearch.com", "wiki2.org", "wikiblink.com", "wikibrief.org", "wikies.wiki",
    "wikimili.com", "wikimonde.com", "wikipedia-on-ipfs.org", "wikipedia.us", "wikiqube.com",
    "wikitia.com", "wikivisually.com", "wikivividly.com", "wikiwand.com", "wikizer.com",
    "wikizero.com", "wikizero.org", "wordiq.com", "worldheritage.org", "zxc.wiki",
)  # fmt: skip
_OWN_HOSTS = frozenset(_WIKIMEDIA + _MIRRORS)
# Other sites with a copy of Wikipedia in one folder.
_MIRROR_FOLDERS = {
    "bionity.com": "/en/encyclopedia/",
    "chemeurope.com": "/en/encyclopedia/",
    "nationmaster.com": "/encyclopedia/",
    "reference.com": "/browse/wiki/",
    "statemaster.com": "/encyclopedia/",
}


def is_wikipedia(url: str) -> bool:
    """Whether a page belongs to Wikipedia in any language, a sister project or a mirror.

    Decided by host, and for five mirrors by folder. Raises BadUrl.
    """
    parts = url_parts(url)
    names = parts.host.split(".")
    if any(".".join(names[i:]) in _OWN_HOSTS for i in range(len(names) - 1)):
        return True
    return parts.path.startswith(_MIRROR_FOLDERS.get(parts.host, "\0"))


def is_same_page(one: str, other: str) -> bool:
    """Whether two URLs are equal or have the same canonical form."""
    try:
        return one == other or canonical_url(one) == canonical_url(other)
    except BadUrl:
        return False
